/**
 * Where one key of the configuration comes from: everything that sets it, in order, and which of it wins.
 */
import { type Assignment, describeSource } from "./Assignment.ts"
import { type ConfigurationTree, history, nodeAt } from "./ConfigurationTree.ts"
import type { OwnedSection } from "./Decode.ts"
import * as Defaults from "./Defaults.ts"
import { shown } from "./EffectiveValues.ts"
import * as KnownKey from "./KnownKey.ts"
import { nearest } from "./Nearest.ts"
import { expectation } from "./SchemaShape.ts"
import { decisive } from "./SectionInput.ts"

/** All that is known of a key. No secret stands in it. */
export interface Explanation {
  /** As its section spells it. */
  readonly key: string
  /** The plugin that owns the key's section; null where no section has the key. */
  readonly plugin: string | null
  readonly description: string | null
  /** What the section takes there; null where no section has the key. */
  readonly expected: string | null
  readonly default: string | null
  /** Everything that sets the key, or a key below it, in load order. */
  readonly sources: ReadonlyArray<ExplainedSource>
  /** The nearest key that a section has, for a key that none has and nothing sets. */
  readonly suggestion: string | null
}

/** One thing that sets the key. */
export interface ExplainedSource {
  /** The key, or that below it which is set. */
  readonly key: string
  readonly source: string
  /** Null where a list or a section without keys stands, as `kind` says. */
  readonly value: string | null
  readonly kind: "value" | "list" | "section"
  /** Whether this is what stands in the end. */
  readonly wins: boolean
}

/** Explains a key, spelled in any case. */
export const explain = (tree: ConfigurationTree, sections: ReadonlyArray<OwnedSection>, key: string): Explanation => {
  const path = key.split(":")
  const known = KnownKey.find(sections, path)
  const isKnown = known?.place.isKnown === true
  const sources = history(tree.assignments, key)
    .filter(isTelling)
    .map((assignment) => explainSource(tree, sections, assignment))
  const ofKey = known === undefined || !isKnown ? undefined : Defaults.at(known.section, known.place.path)
  return {
    key: isKnown ? known.key : key,
    plugin: isKnown ? known.owner : null,
    description: isKnown ? (known.place.description ?? null) : null,
    expected: isKnown ? expectation(known.place.shape) : null,
    default: ofKey === undefined ? null : Defaults.toText(ofKey),
    sources,
    suggestion: isKnown || sources.length > 0 ? null : (nearest(key, keysNear(sections, known)) ?? null)
  }
}

/** A section with keys says nothing that they do not say themselves. */
const isTelling = ({ value }: Assignment): boolean => value._tag !== "Section" || value.entries.length === 0

const explainSource = (
  tree: ConfigurationTree,
  sections: ReadonlyArray<OwnedSection>,
  { path, source, value }: Assignment
): ExplainedSource => {
  const key = path.join(":")
  const node = nodeAt(tree.root, path)
  const standing = node === undefined ? undefined : decisive(node)
  return {
    key: KnownKey.find(sections, path)?.key ?? key,
    source: describeSource(source),
    value: value._tag === "Scalar" ? shown(value.text, KnownKey.isSecret(sections, path, source, value.text)) : null,
    kind: kinds[value._tag],
    wins: standing !== undefined && describeSource(standing.source) === describeSource(source)
  }
}

const kinds = { Scalar: "value", List: "list", Section: "section" } as const

const keysNear = (
  sections: ReadonlyArray<OwnedSection>,
  known: KnownKey.KnownKey | undefined
): ReadonlyArray<string> => {
  const near = known === undefined ? sections : [known]
  return near.flatMap(({ section }) => [
    section.path,
    ...Object.keys((section.schema as unknown as { readonly fields: object }).fields).map(
      (name) => `${section.path}:${name}`
    )
  ])
}
