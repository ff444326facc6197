/**
 * What is wrong with a section, in words for the people who run the service.
 */
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type * as Section from "../../Plugins/Section.ts"
import { describeSource, fold, type Source } from "./Assignment.ts"
import { ConfigurationProblem } from "./ConfigurationError.ts"
import type { OwnedSection } from "./Decode.ts"
import { quote, withoutPassword, withoutUser } from "./Secrecy.ts"
import { type Place, placeKey, type SectionInput } from "./SectionInput.ts"

const missing = "is not set, and has no default"

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    const message = SchemaIssue.defaultLeafHook(issue)
    return issue._tag === "MissingKey" && message === "Missing key" ? missing : message
  }
})

/**
 * One problem for each key that did not decode. Where a source could not be read (`isIncomplete`), keys that are missing
 * are left out: they may stand in that very source.
 */
export const sectionProblems = (
  { owner, section }: OwnedSection,
  input: SectionInput,
  error: Schema.SchemaError,
  isIncomplete: boolean
): ReadonlyArray<ConfigurationProblem> => {
  const problems: Array<ConfigurationProblem> = []
  for (const { messages, path } of issuesByPath(error).values()) {
    if (!(messages.includes(missing) && isIncomplete))
      problems.push(problemAt({ owner, section }, input, path, messages))
  }
  return problems
}

/** The problem that a section's check has told of; the key may belong to any of the sections. */
export const faultProblem = (
  sections: ReadonlyMap<OwnedSection, SectionInput>,
  { key, message }: Section.Fault
): ConfigurationProblem => {
  const [nearest] = [...sections]
    .filter(([{ section }]) => fold(`${key}:`).startsWith(fold(`${section.path}:`)))
    .toSorted(([a], [b]) => b.section.path.length - a.section.path.length)
  if (nearest === undefined) {
    return new ConfigurationProblem({ key, source: null, expected: message, owner: null, message })
  }
  const [owned, input] = nearest
  const path = key.split(":").slice(owned.section.path.split(":").length)
  return problemAt(owned, input, path, [message], isExpectation(message))
}

const problemAt = (
  { owner, section }: OwnedSection,
  input: SectionInput,
  path: ReadonlyArray<string>,
  raw: ReadonlyArray<string>,
  tellsFound = true
): ConfigurationProblem => {
  const place = input.places.get(placeKey(path))
  const messages = raw.map((message) =>
    quotesSecret(message, input) ? "the value is not valid" : withoutUsers(withoutPassword(message), place)
  )
  const isMissing = messages.includes(missing)
  const source = (place ?? parentPlace(input, path))?.standing?.source
  const expected = isMissing ? ["a value"] : messages.flatMap(expectation)
  const others = messages.filter((message) => !isExpectation(message))
  const complaint = others.length > 0 ? others.join("; ") : `expected ${expected.join(" or ")}`
  const found = isMissing || place === undefined || !tellsFound ? "" : describeFound(place, others)
  const hint = expected.includes(list) && source !== undefined ? elementHint(source) : ""
  return new ConfigurationProblem({
    key: [section.path, ...path].join(":"),
    source: source === undefined ? null : describeSource(source),
    expected: expected.length > 0 ? expected.join(" or ") : others.join("; "),
    owner,
    message: `${complaint}${found}${hint}`
  })
}

/** The members of a union complain one by one: together they say what was expected. */
const issuesByPath = (error: Schema.SchemaError) => {
  const issues = new Map<string, { readonly path: ReadonlyArray<string>; readonly messages: Array<string> }>()
  for (const { message, path: segments } of formatIssues(error.issue).issues) {
    const path = (segments ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment))
    const known = issues.get(placeKey(path))
    if (known === undefined) issues.set(placeKey(path), { path, messages: [message] })
    else if (!known.messages.includes(message)) known.messages.push(message)
  }
  return issues
}

const list = "a list"

/** What the Schema calls a value that is read from text, as a person would. Nothing where another member says it all. */
const words: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["a string representing a finite number", ["a number"]],
  ["a string representing a bigint", ["an integer"]],
  ['"Infinity" | "-Infinity" | "NaN"', []],
  ['"true" | "false"', ["true or false"]],
  ["a valid Duration string", ['a duration such as "30 seconds"']],
  ["a valid URL string", ["a URL"]],
  ["array", [list]],
  ["object", ["a section with keys"]],
  ["string", ["a single value"]]
])

const prefix = "Expected "

const isExpectation = (message: string): boolean => message.startsWith(prefix)

const expectation = (message: string): ReadonlyArray<string> => {
  if (!isExpectation(message)) return []
  const expected = message.slice(prefix.length)
  const literals = /^"[^"]*"(?: \| "[^"]*")+$/.test(expected)
  return words.get(expected) ?? [literals ? `one of ${expected.replaceAll('"', "").replaceAll(" | ", ", ")}` : expected]
}

/** The message, where it quotes the value or a part of it, as {@link withoutUser} has it. */
const withoutUsers = (message: string, place: Place | undefined): string => {
  const value = place?.standing?.value
  if (value?._tag !== "Scalar") return message
  return value.text
    .split(/[\s,]+/)
    .filter((part) => withoutUser(part) !== part)
    .reduce((text, part) => text.replaceAll(part, withoutUser(part)), message)
}

/** What stands at a place, unless the author's own words quote it already. */
const describeFound = ({ standing, secret }: Place, message: ReadonlyArray<string>): string => {
  if (standing === undefined) return ""
  const { value } = standing
  if (value._tag !== "Scalar") return value._tag === "List" ? ", found a list" : ", found a section"
  if (value.parsed === null) return ", found null"
  if (secret) return ", found a value that is not shown"
  return value.text !== "" && message.some((each) => each.includes(value.text)) ? "" : `, found ${quote(value.text)}`
}

/**
 * Whether a message gives away a secret of its section: its words are the Schema author's, and may quote what they refuse.
 * In the fixed phrase of an expectation a very short secret may stand by chance.
 */
const quotesSecret = (message: string, { places }: SectionInput): boolean =>
  places.values().some(({ secret, standing }) => {
    if (!secret || standing?.value._tag !== "Scalar") return false
    const { text } = standing.value
    return text.length >= (isExpectation(message) ? 4 : 1) && message.includes(text)
  })

const elementHint = (source: Source): string => {
  if (source._tag === "Variable") return `; set its elements one by one: ${source.name}_0, ${source.name}_1, …`
  if (source._tag === "Argument") return `; set its elements one by one: ${source.name}:0=…, ${source.name}:1=…`
  return ""
}

const parentPlace = ({ places }: SectionInput, path: ReadonlyArray<string>): Place | undefined => {
  for (let length = path.length - 1; length >= 0; length--) {
    const place = places.get(placeKey(path.slice(0, length)))
    if (place !== undefined) return place
  }
  return undefined
}
