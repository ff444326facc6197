/**
 * Writes every generated file of this repository: `npm run generate`. With `--check` it writes nothing, and fails where one
 * is stale.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { reference } from "./reference/reference.ts"

const root = resolve(import.meta.dirname, "..")
const isCheck = process.argv.includes("--check")

const layerhost = (...args: ReadonlyArray<string>): string =>
  execFileSync(process.execPath, ["src/cli/main.ts", ...args], { cwd: root, encoding: "utf8" })

/** Writes a file, or tells that it is not what would be written. */
const write = (file: string, text: string): void => {
  const path = join(root, file)
  if (readFileSync(path, "utf8") === text) return
  if (!isCheck) return writeFileSync(path, text)
  process.stdout.write(`${file} is stale: run \`npm run generate\`\n`)
  process.exitCode = 1
}

const format = (file: string, text: string): string =>
  execFileSync("oxfmt", ["--stdin-filepath", file], { cwd: root, encoding: "utf8", input: text })

for (const file of globSync(["examples/*/package.json", "templates/*/package.json"], { cwd: root }).toSorted()) {
  const directory = dirname(file)
  const { scripts = {} } = JSON.parse(readFileSync(join(root, file), "utf8"))
  if ("generate" in scripts) {
    const args = ["src/cli/main.ts", "generate", directory, ...(isCheck ? ["--check"] : [])]
    const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" })
    if (status !== 0) process.exitCode = 1
  }
  if ("schema" in scripts) {
    const schema = `${directory}/appsettings.schema.json`
    write(schema, format(schema, layerhost("config", "schema", directory)))
  }
}

write("docs/reference.md", await reference())
