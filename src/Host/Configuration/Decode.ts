/**
 * Decodes the sections of all plugins at once, and reports everything that is wrong with any of them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Section from "../../Plugins/Section.ts"
import { fold } from "./Assignment.ts"
import { ConfigurationError, type ConfigurationProblem } from "./ConfigurationError.ts"
import { type ConfigurationTree, find } from "./ConfigurationTree.ts"
import * as SectionInput from "./SectionInput.ts"
import { sectionProblems, unknownKeyWarnings } from "./SectionProblems.ts"

/** A section with the id of the plugin that owns it. */
export interface OwnedSection {
  readonly section: Section.Any
  readonly owner: string
}

/** The decoded sections, each under its own service key, and what to warn of. */
export interface Decoded {
  readonly services: Context.Context<never>
  /** What each section was decoded from, by its service key. Secrets stand in it as they are. */
  readonly inputs: ReadonlyMap<string, Schema.StringTree>
  readonly warnings: ReadonlyArray<ConfigurationProblem>
}

/** Decodes every section; fails with everything that is wrong with the sources and with any section. */
export const decode = Effect.fn("Configuration.decode")(function* (
  tree: ConfigurationTree,
  sections: ReadonlyArray<OwnedSection>
): Effect.fn.Return<Decoded, ConfigurationError> {
  const isIncomplete = tree.problems.length > 0
  const services = new Map<string, unknown>()
  const inputs = new Map<string, Schema.StringTree>()
  const problems = [...tree.problems]
  const warnings = [...tree.warnings]
  for (const owned of sections) {
    const codec = textCodec(owned.section)
    const input = inputOf(tree, owned, sections)
    inputs.set(owned.section.key, input.input)
    warnings.push(...unknownKeyWarnings(owned, input.unknown))
    const decoded = yield* Effect.result(Schema.decodeUnknownEffect(codec, { errors: "all" })(input.input))
    if (Result.isSuccess(decoded)) services.set(owned.section.key, decoded.success)
    else problems.push(...sectionProblems(owned, input, decoded.failure, isIncomplete))
  }
  if (problems.length > 0) return yield* new ConfigurationError({ problems, warnings })
  return { services: Context.makeUnsafe(services), inputs, warnings }
})

/** The section's Schema, reading texts in the place of all values. */
export const textCodec = (section: Section.Any): Schema.Codec<unknown, Schema.StringTree> => {
  try {
    return Schema.toCodecStringTree(section.schema)
  } catch (cause) {
    throw new TypeError(`The section "${section.path}" has a field that cannot be read from configuration`, { cause })
  }
}

/** Reads what the tree holds for a section. */
export const inputOf = (
  tree: ConfigurationTree,
  owned: OwnedSection,
  sections: ReadonlyArray<OwnedSection>
): SectionInput.SectionInput =>
  SectionInput.read(find(tree.root, owned.section.path), textCodec(owned.section).ast, inOtherSection(owned, sections))

/** Whether a key below a section, such as `host:tls` below `host`, belongs to another section or leads to one. */
const inOtherSection = ({ section }: OwnedSection, sections: ReadonlyArray<OwnedSection>) => {
  const others = sections.filter((other) => other.section !== section).map((other) => fold(other.section.path))
  return (path: ReadonlyArray<string>): boolean => {
    const key = fold([section.path, ...path].join(":"))
    return others.some((other) => other === key || other.startsWith(`${key}:`))
  }
}
