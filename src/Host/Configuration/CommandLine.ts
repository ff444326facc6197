/**
 * Command-line arguments as configuration: `--host:urls http://+:80` and its other spellings.
 */
import { type Assignment, maxDepth, text } from "./Assignment.ts"
import { ConfigurationProblem } from "./ConfigurationError.ts"

/** What the arguments set, and which of them set nothing although they were meant to. */
export interface CommandLine {
  readonly assignments: ReadonlyArray<Assignment>
  readonly problems: ReadonlyArray<ConfigurationProblem>
}

/**
 * Reads `--key value`, `--key=value`, `/key value`, `/key=value` and `key=value`; a later one wins.
 *
 * A value that begins with `--` needs the spelling with `=`: after a key without it, such an argument is the next key. A
 * path such as `/etc/app` is no key. What is none of these is somebody else's argument and is passed over.
 */
export const read = (args: ReadonlyArray<string>): CommandLine => {
  const assignments: Array<Assignment> = []
  const problems: Array<ConfigurationProblem> = []
  for (let i = 0; i < args.length; i++) {
    const argument = args[i]!
    const separator = argument.indexOf("=")
    const name = separator < 0 ? argument : argument.slice(0, separator)
    const key = keyOf(name, separator >= 0)
    if (key === undefined) continue
    const path = key.split(":")
    if (path.length > maxDepth) continue
    let value: string | undefined
    if (separator >= 0) value = argument.slice(separator + 1)
    else if (args[i + 1]?.startsWith("--") === false) value = args[++i]
    if (value !== undefined) assignments.push({ path, value: text(value), source: { _tag: "Argument", name } })
    // A lone word is likely a switch of the program's own; a key of several parts is meant for the configuration.
    else if (path.length > 1) problems.push(withoutValue(key, name))
  }
  return { assignments, problems }
}

const keyOf = (name: string, hasValue: boolean): string | undefined => {
  if (name.startsWith("--")) return name.length > 2 ? name.slice(2) : undefined
  if (name.startsWith("-")) return undefined
  if (name.startsWith("/")) return name.length > 1 && !name.includes("/", 1) ? name.slice(1) : undefined
  return hasValue && name !== "" ? name : undefined
}

const withoutValue = (key: string, name: string): ConfigurationProblem =>
  new ConfigurationProblem({
    key,
    source: `argument ${name}`,
    expected: "a value",
    owner: null,
    message: `the argument has no value; write ${name} <value> or ${name}=<value>`
  })
