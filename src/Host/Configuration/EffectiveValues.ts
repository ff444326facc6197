/**
 * The configuration that is in force: every key with its value and where that comes from.
 */
import { describeSource, fold } from "./Assignment.ts"
import { type ConfigurationNode, type ConfigurationTree, hasValue, merge, type Standing } from "./ConfigurationTree.ts"
import type { Scalar } from "./DocumentNode.ts"
import { inputOf, type OwnedSection, textCodec } from "./Decode.ts"
import * as Defaults from "./Defaults.ts"
import * as KnownKey from "./KnownKey.ts"
import type { SectionInput } from "./SectionInput.ts"
import { keysOf } from "./SchemaShape.ts"
import { withoutPassword } from "./Secrecy.ts"
import { redacted } from "../Logging/SecretNames.ts"

/** One key. No secret stands in it. */
export interface EffectiveValue {
  readonly key: string
  /** Null where nothing is set, and there is no default. */
  readonly value: string | null
  /** A source in words, or `default`; null where nothing is set. */
  readonly source: string | null
  /** The plugin that owns the section; null where no section has the key. */
  readonly plugin: string | null
}

/**
 * Every key of every section, and every other key that a file, an argument or the program sets. Variables that no section
 * knows are left out: they are those of the whole system.
 */
export const list = (tree: ConfigurationTree, sections: ReadonlyArray<OwnedSection>): ReadonlyArray<EffectiveValue> => {
  const found = new Map<string, EffectiveValue>()
  for (const owned of sections) for (const each of ofSection(tree, owned, sections)) found.set(fold(each.key), each)
  for (const each of ofNobody(tree, sections)) if (!found.has(fold(each.key))) found.set(fold(each.key), each)
  return [...found.values()]
}

/** The keys of a section, in the order in which it declares them. */
function* ofSection(
  tree: ConfigurationTree,
  owned: OwnedSection,
  sections: ReadonlyArray<OwnedSection>
): Iterable<EffectiveValue> {
  const { owner, section } = owned
  const { input, places } = inputOf(tree, owned, sections)
  const set = Map.groupBy(valuesOf(places, owned, sections), ([name]) => name)
  const defaults = Defaults.of(section, typeof input === "object" ? (input as Defaults.Set) : {})
  for (const name of new Set([...keysOf(textCodec(section).ast), ...set.keys()])) {
    const key = `${section.path}:${name}`
    const value = defaults.get(name)
    const values = set.get(name)
    if (values !== undefined) {
      for (const [, each] of values) yield each
      const isSet = new Set(values.map(([, each]) => each.key))
      for (const [leaf, text] of Defaults.leaves(key, value)) {
        if (!isSet.has(leaf)) yield { key: leaf, value: text, source: "default", plugin: owner }
      }
    } else if (value === undefined) yield { key, value: null, source: null, plugin: owner }
    else yield { key, value: Defaults.toText(value), source: "default", plugin: owner }
  }
}

/** What is set of a section, each with the first part of its key. */
function* valuesOf(
  places: SectionInput["places"],
  owned: OwnedSection,
  sections: ReadonlyArray<OwnedSection>
): Iterable<readonly [name: string, value: EffectiveValue]> {
  for (const [place, { secret, standing }] of places) {
    if (standing === undefined || place === "") continue
    const { source, value } = standing
    const isEmptyList = value._tag === "List" && value.items.length === 0
    if (value._tag !== "Scalar" && !isEmptyList) continue
    const key = `${owned.section.path}:${place}`
    const text = value._tag === "Scalar" ? value.text : ""
    const isSecret = secret || KnownKey.isSecret(sections, key.split(":"), source, text)
    yield [
      place.split(":", 1)[0]!,
      {
        key,
        value: value._tag === "Scalar" ? shown(value.text, isSecret) : "[]",
        source: describeSource(source),
        plugin: owned.owner
      }
    ]
  }
}

function* ofNobody(tree: ConfigurationTree, sections: ReadonlyArray<OwnedSection>): Iterable<EffectiveValue> {
  const withoutVariables = merge(tree.assignments.filter(({ source }) => source._tag !== "Variable"))
  for (const { path, value } of leaves(withoutVariables, tree.root, [])) {
    const { source } = value
    const text = shown(value.value.text, KnownKey.isSecret(sections, path, source, value.value.text))
    yield { key: path.join(":"), value: text, source: describeSource(source), plugin: null }
  }
}

interface Leaf {
  readonly path: ReadonlyArray<string>
  readonly value: Standing<Scalar>
}

/** The values of `node` at every key that `keys` has. */
function* leaves(
  keys: ConfigurationNode,
  node: ConfigurationNode | undefined,
  path: ReadonlyArray<string>
): Iterable<Leaf> {
  if (node === undefined) return
  if (hasValue(node)) yield { path, value: node.scalar }
  for (const [name, child] of keys.children) yield* leaves(child, node.children.get(name), [...path, child.name])
}

/** A value as it may be shown. */
export const shown = (text: string, secret: boolean): string => (secret ? redacted : withoutPassword(text))
