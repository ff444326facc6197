import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"

const chatty = fileURLToPath(new URL("fixtures/chatty.ts", import.meta.url))

const run = async (end: string) => {
  const child = spawn(process.execPath, [chatty, end], { stdio: ["ignore", "pipe", "pipe"] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  return { lines: stdout.split("\n"), stderr, code }
}

describe("Logging in a process of its own", () => {
  for (const [end, code] of [
    ["end", 0],
    ["exit", 3],
    ["crash", 1]
  ] as const) {
    it(`writes every line to standard output before the process ends by ${end}`, async () => {
      const result = await run(end)
      assert.strictEqual(result.code, code)
      assert.strictEqual(result.lines.length, 1001)
      assert.strictEqual(JSON.parse(result.lines[999]!)["message"], "line 1000")
    })
  }

  it("lives on when standard output is closed", async () => {
    const child = spawn(process.execPath, [chatty, "end"], { stdio: ["ignore", "pipe", "pipe"] })
    child.stdout.destroy()
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")])
    assert.strictEqual(stderr, "")
    assert.strictEqual(code, 0)
  })
})
