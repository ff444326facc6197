/**
 * Everything that can be said of this repository without running its tests: `npm run check`.
 *
 * Every check is a command. All of them run; a line for each tells how it went, with the output of those that failed.
 */
import { delimiter, join, resolve } from "node:path"
import { runChecks, type Check } from "./runChecks.ts"

const root = resolve(import.meta.dirname, "..")

const node = (name: string, ...args: ReadonlyArray<string>): Check => ({ name, command: process.execPath, args })

const checks: ReadonlyArray<Check> = [
  { name: "types", command: "tsc", args: ["--noEmit", "-p", "."] },
  { name: "lint", command: "oxlint", args: [] },
  { name: "format", command: "oxfmt", args: ["--check", "."] },
  node("generated files", "scripts/generate.ts", "--check"),
  node("import direction", "scripts/importDirection.ts"),
  node("no sleeps in tests", "scripts/noSleeps.ts"),
  node("no console in src", "scripts/noConsole.ts")
]

const PATH = [join(root, "node_modules/.bin"), process.env["PATH"]].join(delimiter)
const passed = await runChecks(checks, { cwd: root, env: { ...process.env, PATH } }, (text) => {
  process.stdout.write(text)
})
process.exitCode = passed ? 0 : 1
