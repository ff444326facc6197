/**
 * Command-line arguments as configuration: `--host:urls http://+:80` and its other spellings.
 */
import { type Assignment, maxDepth, text } from "./Assignment.ts"
import { ConfigurationProblem } from "./ConfigurationError.ts"

/** What the arguments set, and which of them set nothing. */
export interface CommandLine {
  readonly assignments: ReadonlyArray<Assignment>
  /** Keys without a value. */
  readonly problems: ReadonlyArray<ConfigurationProblem>
  /** Arguments that are none of the configuration's, as far as can be seen. */
  readonly warnings: ReadonlyArray<ConfigurationProblem>
}

/**
 * Reads `--key value`, `--key=value`, `/key value`, `/key=value` and `key=value`; a later one wins.
 *
 * A value that begins with `--` needs the spelling with `=`: after a key without it, such an argument is the next key. A
 * path such as `/etc/app` is no key. What is none of these sets nothing, and is warned of; `--` alone parts arguments and means
 * nothing.
 */
export const read = (args: ReadonlyArray<string>): CommandLine => {
  const assignments: Array<Assignment> = []
  const problems: Array<ConfigurationProblem> = []
  const warnings: Array<ConfigurationProblem> = []
  for (let i = 0; i < args.length; i++) {
    const argument = args[i]!
    if (argument === "--") continue
    const separator = argument.indexOf("=")
    const name = separator < 0 ? argument : argument.slice(0, separator)
    const key = keyOf(name, separator >= 0)
    const path = key?.split(":") ?? []
    if (key === undefined || path.length > maxDepth) {
      warnings.push(ignored(i))
      continue
    }
    let value: string | undefined
    if (separator >= 0) value = argument.slice(separator + 1)
    else if (args[i + 1]?.startsWith("--") === false) value = args[++i]
    if (value !== undefined) assignments.push({ path, value: text(value), source: { _tag: "Argument", name } })
    // A lone word is likely a switch of the program's own; a key of several parts is meant for the configuration.
    else if (path.length > 1) problems.push(withoutValue(key, name))
    else warnings.push(withoutValue(key, name))
  }
  return { assignments, problems, warnings }
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

/** An argument is named by its place: it may be a secret that lost its key. */
const ignored = (index: number): ConfigurationProblem =>
  new ConfigurationProblem({
    key: null,
    source: `argument ${index + 1}`,
    expected: "--key value, --key=value, /key value, /key=value or key=value",
    owner: null,
    message: "sets nothing and is ignored; expected --key value, --key=value, /key value, /key=value or key=value"
  })
