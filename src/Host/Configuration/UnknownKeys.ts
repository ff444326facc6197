/**
 * Warnings of keys that nobody knows: likely ones that were misspelled.
 */
import { describeSource, fold, type Source } from "./Assignment.ts"
import { ConfigurationProblem } from "./ConfigurationError.ts"
import { type ConfigurationNode, type ConfigurationTree, isPresent } from "./ConfigurationTree.ts"
import { nearest } from "./Nearest.ts"
import type { OwnedSection } from "./Decode.ts"
import { decisive, type UnknownKey } from "./SectionInput.ts"
import { keysOf } from "./SchemaShape.ts"

/**
 * Keys within a section that it does not know. A variable is warned of only if it comes near a known key: what else is called
 * `HOST_…` or `LOGGING_…` may be meant for another program.
 */
export const inSection = (
  { owner, section }: OwnedSection,
  unknown: ReadonlyArray<UnknownKey>,
  sections: ReadonlyArray<OwnedSection>
): ReadonlyArray<ConfigurationProblem> =>
  unknown.flatMap(({ known: ofSchema, node, path }) => {
    const source = firstSource(node)
    const known = path.length === 1 ? [...ofSchema, ...sectionsBelow(section.path, sections)] : ofSchema
    const name = nearest(node.name, known)
    if (name === undefined && source?._tag === "Variable") return []
    const parent = [section.path, ...path.slice(0, -1)]
    const suggestion = name === undefined ? undefined : [...parent, name].join(":")
    const expected = suggestion ?? (known.length > 0 ? `one of ${known.join(", ")}` : "no key here")
    return [
      new ConfigurationProblem({
        key: [...parent, spelled(node.name, source)].join(":"),
        source: source === undefined ? null : describeSource(source),
        expected,
        owner,
        message:
          suggestion === undefined ? `unknown key; expected ${expected}` : `unknown key; did you mean ${suggestion}?`
      })
    ]
  })

/**
 * Sections that nobody has, where the name comes near that of a section and a key below it near one of that section's: by its
 * name alone, `login` could be anything.
 */
export const misspelledSections = (
  { root }: ConfigurationTree,
  sections: ReadonlyArray<OwnedSection>
): ReadonlyArray<ConfigurationProblem> => {
  const names = sectionsBelow("", sections)
  const known = new Set(names.map(fold))
  return [...root.children].flatMap(([key, node]) => {
    if (known.has(key) || !isPresent(node)) return []
    const meant = nearest(node.name, names)
    const owned = sections.find(({ section }) => meant !== undefined && fold(section.path) === fold(meant))
    if (meant === undefined || owned === undefined) return []
    const keys = [...keysOf(owned.section.schema.ast), ...sectionsBelow(meant, sections)]
    if (!node.children.values().some((child) => nearest(child.name, keys) !== undefined)) return []
    const source = firstSource(node)
    return [
      new ConfigurationProblem({
        key: spelled(node.name, source),
        source: source === undefined ? null : describeSource(source),
        expected: meant,
        owner: owned.owner,
        message: `unknown section; did you mean ${meant}?`
      })
    ]
  })
}

/** The names of the sections right below a path; of all sections below the root where the path is empty. */
const sectionsBelow = (path: string, sections: ReadonlyArray<OwnedSection>): ReadonlyArray<string> => {
  const prefix = path === "" ? "" : `${fold(path)}:`
  const below = sections.filter(({ section }) => fold(section.path).startsWith(prefix))
  return [...new Set(below.map(({ section }) => section.path.slice(prefix.length).split(":", 1)[0]!))]
}

/** A file is searched for a key as it is spelled there; the capitals of a variable say nothing of the key. */
const spelled = (name: string, source: Source | undefined): string =>
  source?._tag !== "File" && name === name.toUpperCase() ? name.toLowerCase() : name

const firstSource = (node: ConfigurationNode): Source | undefined =>
  decisive(node)?.source ??
  node.children
    .values()
    .map(firstSource)
    .find((source) => source !== undefined)
