import { spawnSync } from "node:child_process"

const has = (command: string): boolean => spawnSync(command, ["--version"]).status === 0

/** Whether Debian's package `prometheus` is there; tests that need it say that they were skipped. */
export const hasPromtool = has("promtool")
export const hasPrometheus = has("prometheus")

if (!hasPromtool || !hasPrometheus) {
  process.stderr.write("promtool and prometheus are not installed: the tests that ask them are skipped\n")
}

/** What `promtool check metrics` has to say against a text in the format 0.0.4; nothing where it is well. */
export const check = (text: string): string => {
  const { status, stderr, stdout } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" })
  const words = `${stdout}${stderr}`
  return status === 0 || words !== "" ? words : `promtool ended with status ${status}`
}
