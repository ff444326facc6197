import { assert, it } from "@effect/vitest"
import { runChecks } from "../../scripts/runChecks.ts"

const node = (name: string, program: string) => ({ name, command: process.execPath, args: ["--eval", program] })

const outcome = async (checks: Parameters<typeof runChecks>[0]) => {
  const lines: Array<string> = []
  const passed = await runChecks(checks, {}, (text) => lines.push(text))
  return { passed, lines: lines.toSorted() }
}

it("passes when every check does, and keeps their output to itself", async () => {
  assert.deepStrictEqual(await outcome([node("a", "process.stdout.write('noise')"), node("b", "")]), {
    passed: true,
    lines: ["✓ a\n", "✓ b\n"]
  })
})

it("runs all, and shows what those that fail have to say", async () => {
  const { passed, lines } = await outcome([
    node("a", "process.stdout.write('out\\n'); process.stderr.write('err\\n'); process.exitCode = 3"),
    node("b", ""),
    { name: "c", command: "no-such-command-anywhere", args: [] }
  ])
  assert.isFalse(passed)
  assert.deepStrictEqual(lines.slice(0, 2), ["✓ b\n", "✗ a\n  out\n  err\n"])
  assert.match(lines[2]!, /^✗ c\n {2}.*no-such-command-anywhere/)
})
