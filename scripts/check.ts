/**
 * Everything that can be said of this repository without running its tests: `npm run check`.
 *
 * Every check is a command. All of them run; a line for each tells how it went, with the output of those that failed.
 */
import { existsSync } from "node:fs"
import { delimiter, join, resolve } from "node:path"
import { runChecks, type Check } from "./runChecks.ts"

const root = resolve(import.meta.dirname, "..")

/** The benchmark's own packages are no part of the project's install. */
const hasPeers = existsSync(join(root, "bench/node_modules"))

const node = (name: string, ...args: ReadonlyArray<string>): Check => ({ name, command: process.execPath, args })

const checks: ReadonlyArray<Check> = [
  { name: "types", command: "tsc", args: ["--noEmit", "-p", "."] },
  ...(hasPeers ? [{ name: "types of the benchmark's peers", command: "tsc", args: ["--noEmit", "-p", "bench"] }] : []),
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
if (!hasPeers)
  process.stdout.write("– types of the benchmark's peers: not checked, since `npm run bench` has not installed them\n")
process.exitCode = passed ? 0 : 1
