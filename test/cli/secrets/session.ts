/** Runs one `layerhost secrets` command after another: each line of standard input asks for one, and gets a line back. */
import { createInterface } from "node:readline"
import { type Asked, run } from "../inProcess.ts"

for await (const line of createInterface({ input: process.stdin })) {
  const { args, ...asked } = JSON.parse(line) as Asked
  process.stdout.write(`${JSON.stringify(await run({ ...asked, args: ["secrets", ...args] }))}\n`)
}
