/**
 * Decodes the sections of all plugins at once, and reports everything that is wrong with any of them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Section from "../../Plugins/Section.ts"
import { fold } from "./Assignment.ts"
import { ConfigurationError, type ConfigurationProblem } from "./ConfigurationError.ts"
import { type ConfigurationTree, find } from "./ConfigurationTree.ts"
import * as SectionInput from "./SectionInput.ts"
import { faultProblem, sectionProblems } from "./SectionProblems.ts"
import * as UnknownKeys from "./UnknownKeys.ts"

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

/** Decodes and checks every section; fails with everything that is wrong with the sources and with any section. */
export const decode = Effect.fn("Configuration.decode")(function* (
  tree: ConfigurationTree,
  sections: ReadonlyArray<OwnedSection>
): Effect.fn.Return<Decoded, ConfigurationError, FileSystem.FileSystem> {
  const isIncomplete = tree.problems.length > 0
  const values = new Map<string, unknown>()
  const inputs = new Map<OwnedSection, SectionInput.SectionInput>()
  const problems = [...tree.problems]
  const warnings = [...tree.warnings, ...UnknownKeys.misspelledSections(tree, sections)]
  for (const owned of sections) {
    const codec = textCodec(owned.section)
    const input = inputOf(tree, owned, sections)
    inputs.set(owned, input)
    warnings.push(...UnknownKeys.inSection(owned, input.unknown, sections))
    const decoded = yield* Effect.result(Schema.decodeUnknownEffect(codec, { errors: "all" })(input.input))
    if (Result.isSuccess(decoded)) values.set(owned.section.key, decoded.success)
    else problems.push(...sectionProblems(owned, input, decoded.failure, isIncomplete))
  }
  const services = Context.makeUnsafe<never>(values)
  for (const fault of yield* Effect.provideContext(faultsOf(sections, values), services)) {
    const problem = faultProblem(inputs, fault)
    // What nothing sets may stand in the very source that could not be read.
    if (!isIncomplete || problem.source !== null) problems.push(problem)
  }
  if (problems.length > 0) return yield* new ConfigurationError({ problems, warnings })
  return {
    services,
    inputs: new Map(inputs.entries().map(([{ section }, { input }]) => [section.key, input])),
    warnings
  }
})

/** What the checks of the sections that did decode tell of. */
const faultsOf = Effect.fnUntraced(function* (
  sections: ReadonlyArray<OwnedSection>,
  values: ReadonlyMap<string, unknown>
) {
  const faults: Array<Section.Fault> = []
  for (const { section } of sections) {
    if (section.check === undefined || !values.has(section.key)) continue
    faults.push(...(yield* section.check(values.get(section.key))))
  }
  return faults
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
