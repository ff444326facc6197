/**
 * A part of the tree as the Schema of its section wants to see it: the Schema's own spelling of keys, texts for values.
 *
 * What the Schema does not fit is handed on as it is, for the Schema to refuse.
 */
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { fold } from "./Assignment.ts"
import {
  type ConfigurationNode,
  elements,
  hasChildren,
  hasValue,
  isPresent,
  type Standing
} from "./ConfigurationTree.ts"
import type { Content, Scalar } from "./DocumentNode.ts"
import { holdsSecretAt, isSecretAt, isLeaf, type Shape, shapeOf } from "./SchemaShape.ts"
import { isHarmless, isSecretName, isSecretSource } from "./Secrecy.ts"

/** What is decoded, and what is known of it. */
export interface SectionInput {
  readonly input: Schema.StringTree
  /** Every key that the Schema knows of and the tree sets, by its path as {@link placeKey} joins it. */
  readonly places: ReadonlyMap<string, Place>
  readonly unknown: ReadonlyArray<UnknownKey>
}

/** What stands at a key, and whether its value may be shown. */
export interface Place {
  readonly standing: Standing<Content> | undefined
  readonly secret: boolean
}

/** A key that the Schema does not know, and those that it knows there. */
export interface UnknownKey {
  readonly path: ReadonlyArray<string>
  readonly node: ConfigurationNode
  readonly known: ReadonlyArray<string>
}

/** A place's key in {@link SectionInput.places}. */
export const placeKey = (path: ReadonlyArray<PropertyKey>): string => path.map(String).join(":")

/**
 * Reads a section's input from its node. `isElsewhere` tells of keys below the section that belong to another section; they
 * are neither known nor unknown here.
 */
export const read = (
  node: ConfigurationNode | undefined,
  ast: SchemaAST.AST,
  isElsewhere: (path: ReadonlyArray<string>) => boolean
): SectionInput => {
  const places = new Map<string, Place>()
  const unknown: Array<UnknownKey> = []

  const readNode = (
    each: ConfigurationNode,
    asts: ReadonlyArray<SchemaAST.AST>,
    path: ReadonlyArray<string>,
    secretAbove: boolean
  ): Schema.StringTree => {
    const shape = shapeOf(asts)
    const isSection = shape.objects.length > 0 || shape.opaque
    const takesValue = shape.leaf || shape.arrays.length > 0 || shape.opaque
    // A variable that happens to have the name of a section says nothing about it.
    const isStray = !takesValue && each.scalar?.source._tag === "Variable"
    const standing = isStray ? each.container : decisive(each)
    const bySchema = secretAbove || isSecretAt(ast, path)
    const bySource = standing !== undefined && isSecretSource(standing.source)
    const found = standing?.value._tag === "Scalar" ? standing.value.text : ""
    const secret = bySchema || bySource || (isSecretName(each.name) && !isHarmless(found, shape))
    // A text in the place of a list or a section may well be the secrets that belong into it.
    const isMisplaced = standing?.value._tag === "Scalar" && !shape.leaf && holdsSecretAt(ast, path)
    places.set(placeKey(path), { standing, secret: secret || isMisplaced })

    if (hasValue(each) && !isStray) {
      if (!isSection) addUnknown(each.children.values(), path)
      return leafText(each.scalar, shape)
    }
    if (each.scalar?.value.parsed === null && !hasChildren(each)) return shape.null ? "null" : undefined
    const items = elements(each)
    const isList = each.container?.value._tag === "List"
    if (isList || (shape.arrays.length > 0 && each.container === undefined && items.length > 0)) {
      addUnknown(
        each.children.values().filter((child) => !items.includes(child)),
        path
      )
      return items.map((item, i) => readNode(item, shape.elementAt(i), [...path, String(i)], secret))
    }
    // The name of a section says nothing of the values in it: "secretstore" holds a plain URL, too.
    if (isSection || each.container !== undefined) return readSection(each, shape, path, bySchema)
    addUnknown(each.children.values(), path)
    return undefined
  }

  const readSection = (
    each: ConfigurationNode,
    shape: Shape,
    path: ReadonlyArray<string>,
    secret: boolean
  ): Schema.StringTree => {
    const known = new Map<string, { readonly name: string; readonly asts: Array<SchemaAST.AST> }>()
    const index: Array<SchemaAST.AST> = []
    for (const object of shape.objects) {
      for (const { name, type } of object.propertySignatures) {
        const property = known.get(fold(String(name)))
        if (property === undefined) known.set(fold(String(name)), { name: String(name), asts: [type] })
        else property.asts.push(type)
      }
      for (const { type } of object.indexSignatures) index.push(type)
    }
    const entries: Array<[string, Schema.StringTree]> = []
    const add = (name: string, child: ConfigurationNode, asts: ReadonlyArray<SchemaAST.AST>) => {
      const value = readNode(child, asts, [...path, name], secret)
      if (value !== undefined) entries.push([name, value])
    }
    for (const child of each.children.values()) {
      const property = known.get(fold(child.name))
      if (property !== undefined) add(property.name, child, property.asts)
      else if (isElsewhere([...path, child.name])) continue
      else if (shape.opaque) add(child.name, child, shape.elementAt(0))
      else if (index.length === 0) addUnknown([child], path, names(known))
      else if (isLeaf(index)) for (const [name, leaf] of leaves(child, child.name)) add(name, leaf, index)
      else add(child.name, child, index)
    }
    // Object.fromEntries makes a key like __proto__ a key like any other.
    return Object.fromEntries(entries)
  }

  const addUnknown = (
    nodes: Iterable<ConfigurationNode>,
    path: ReadonlyArray<string>,
    known: ReadonlyArray<string> = []
  ) => {
    for (const each of nodes) {
      const eachPath = [...path, each.name]
      if (isPresent(each) && !isElsewhere(eachPath)) unknown.push({ path: eachPath, node: each, known })
    }
  }

  const input = node === undefined ? undefined : readNode(node, [ast], [], false)
  return { input: input ?? {}, places, unknown }
}

const names = (known: ReadonlyMap<string, { readonly name: string }>): ReadonlyArray<string> =>
  [...known.values()].map((property) => property.name)

/** What stands at a node itself. */
export const decisive = (node: ConfigurationNode): Standing<Content> | undefined => node.scalar ?? node.container

/** The values below a node, their names joined by `:`, for records whose values are plain: `override:node:http`. */
const leaves = (node: ConfigurationNode, name: string): ReadonlyArray<readonly [string, ConfigurationNode]> => [
  ...(node.scalar !== undefined || node.container?.value._tag === "List" ? [[name, node] as const] : []),
  ...(node.container?.value._tag === "List"
    ? []
    : [...node.children.values()].flatMap((child) => leaves(child, `${name}:${child.name}`)))
]

const decimal = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?$/i

/** Literals are found in any case. A number keeps its text, with all its digits, unless only YAML writes it so (`0x1F`). */
const leafText = ({ value }: Standing<Scalar>, shape: Shape): string => {
  if (shape.text || shape.literals.includes(value.text)) return value.text
  const literal = shape.literals.find((each) => fold(each) === fold(value.text))
  if (literal !== undefined) return literal
  const respell = shape.number && typeof value.parsed === "number" && !decimal.test(value.text)
  return respell ? String(value.parsed) : value.text
}
