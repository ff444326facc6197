import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"

const chatty = fileURLToPath(new URL("fixtures/chatty.ts", import.meta.url))

const run = async (end: string, count: number) => {
  const child = spawn(process.execPath, [chatty, end, String(count)], { stdio: ["ignore", "pipe", "pipe"] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  return { lines: stdout.split("\n"), stderr, code }
}

describe("Logging in a process of its own", () => {
  // A process that is cut off writes no more than the pipe takes at once, 64 KiB; one that ends by itself writes all.
  for (const [end, code, count] of [
    ["end", 0, 5000],
    ["exit", 3, 301],
    ["crash", 1, 301]
  ] as const) {
    it(`writes every line to standard output before the process ends by ${end}`, async () => {
      const result = await run(end, count)
      assert.strictEqual(result.code, code)
      assert.strictEqual(result.lines.length, count + 1)
      assert.strictEqual(JSON.parse(result.lines[count - 1]!)["message"], `line ${count}`)
    })
  }

  it("lives on when standard output is closed", async () => {
    const child = spawn(process.execPath, [chatty, "end", "1000"], { stdio: ["ignore", "pipe", "pipe"] })
    child.stdout.destroy()
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")])
    assert.strictEqual(stderr, "")
    assert.strictEqual(code, 0)
  })
})
