/**
 * The configuration that is in force: every key with its value and where that comes from.
 */
import { describeSource, fold } from "./Assignment.ts"
import { type ConfigurationNode, type ConfigurationTree, hasValue, merge, type Standing } from "./ConfigurationTree.ts"
import type { Scalar } from "./DocumentNode.ts"
import { inputOf, type OwnedSection, textCodec } from "./Decode.ts"
import * as Defaults from "./Defaults.ts"
import * as KnownKey from "./KnownKey.ts"
import { placeAt } from "./SchemaShape.ts"
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
  const set = Map.groupBy(valuesOf(tree, owned, sections), ([name]) => name)
  const defaults = Defaults.of(section)
  for (const name of new Set([...keysOf(section), ...set.keys()])) {
    const values = set.get(name)
    if (values !== undefined) for (const [, value] of values) yield value
    else {
      const value = defaults.get(name)
      yield {
        key: `${section.path}:${name}`,
        value: value === undefined ? null : Defaults.toText(value),
        source: value === undefined ? null : "default",
        plugin: owner
      }
    }
  }
}

/** What the tree sets of a section, each with the first part of its key. */
function* valuesOf(
  tree: ConfigurationTree,
  owned: OwnedSection,
  sections: ReadonlyArray<OwnedSection>
): Iterable<readonly [name: string, value: EffectiveValue]> {
  for (const [place, { secret, standing }] of inputOf(tree, owned, sections).places) {
    if (standing === undefined || place === "") continue
    const { source, value } = standing
    const isEmptyList = value._tag === "List" && value.items.length === 0
    if (value._tag !== "Scalar" && !isEmptyList) continue
    const key = `${owned.section.path}:${place}`
    const isSecret = secret || KnownKey.isSecret(sections, key.split(":"), source)
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

const keysOf = (section: OwnedSection["section"]): ReadonlyArray<string> =>
  placeAt(textCodec(section).ast, []).shape.objects.flatMap(({ propertySignatures }) =>
    propertySignatures.map(({ name }) => String(name))
  )

function* ofNobody(tree: ConfigurationTree, sections: ReadonlyArray<OwnedSection>): Iterable<EffectiveValue> {
  const withoutVariables = merge(tree.assignments.filter(({ source }) => source._tag !== "Variable"))
  for (const { path, value } of leaves(withoutVariables, tree.root, [])) {
    const { source } = value
    const text = shown(value.value.text, KnownKey.isSecret(sections, path, source))
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
