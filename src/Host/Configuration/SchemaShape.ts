/**
 * What a section's Schema takes at each key, and what it says of it.
 */
import * as SchemaAST from "effect/SchemaAST"
import { fold } from "./Assignment.ts"

/** What a Schema takes at one place, all members of its unions together. */
export interface Shape {
  readonly objects: ReadonlyArray<SchemaAST.Objects>
  readonly arrays: ReadonlyArray<SchemaAST.Arrays>
  readonly literals: ReadonlyArray<string>
  readonly leaf: boolean
  readonly null: boolean
  readonly number: boolean
  /** Any text will do, so that none is respelled. */
  readonly text: boolean
  /** Takes whatever there is. */
  readonly opaque: boolean
  readonly secret: boolean
  readonly elementAt: (index: number) => ReadonlyArray<SchemaAST.AST>
}

/** The shape of a place that may be any of several Schemas. */
export const shapeOf = (asts: ReadonlyArray<SchemaAST.AST>): Shape => {
  const objects: Array<SchemaAST.Objects> = []
  const arrays: Array<SchemaAST.Arrays> = []
  const literals: Array<string> = []
  const has = { leaf: false, null: false, number: false, text: false, opaque: false }

  const add = (ast: SchemaAST.AST, ofNumber: boolean): void => {
    const isNumber = ofNumber || ast._tag === "Number" || ast._tag === "BigInt"
    has.number ||= isNumber
    has.null ||= ast._tag === "Null"
    if (ast.encoding !== undefined) return add(ast.encoding.at(-1)!.to, isNumber)
    switch (ast._tag) {
      case "Objects":
        objects.push(ast)
        break
      case "Arrays":
        arrays.push(ast)
        break
      case "Union":
        for (const type of ast.types) add(type, isNumber)
        break
      case "Suspend":
        add(ast.thunk(), isNumber)
        break
      case "Declaration":
      case "Any":
        has.opaque = true
        break
      case "Literal":
        literals.push(String(ast.literal))
        has.leaf = true
        break
      default:
        has.text ||= ast._tag === "String" && !isNumber
        has.leaf = true
    }
  }
  for (const ast of asts) add(ast, false)

  return {
    ...has,
    secret: asts.flatMap(formsOf).some(isRedacted),
    objects,
    arrays,
    literals,
    elementAt: (i) => (has.opaque ? asts : arrays.flatMap(({ elements: fixed, rest }) => fixed[i] ?? rest[0] ?? []))
  }
}

/** Whether nothing but single values stands there. */
export const isLeaf = (asts: ReadonlyArray<SchemaAST.AST>): boolean => {
  const shape = shapeOf(asts)
  return shape.objects.length === 0 && shape.arrays.length === 0 && !shape.opaque
}

const isRedacted = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Declaration" &&
  (ast.annotations?.["representation"] as { readonly id?: unknown } | undefined)?.id === "effect/schema/Redacted"

/**
 * Whether the value at a place, or one that it is part of, is a secret of the Schema. All forms count that a value takes while
 * it is decoded: the encoded one of a section with a default no longer knows what is secret in it.
 */
export const isSecretAt = (ast: SchemaAST.AST, path: ReadonlyArray<string>): boolean => {
  let forms = formsOf(ast)
  for (const name of path) {
    if (forms.some(isRedacted)) return true
    forms = forms.flatMap((form) => childrenOf(form, name)).flatMap(formsOf)
  }
  return forms.some(isRedacted)
}

/** Whether a secret of the Schema stands at a place or anywhere below it. */
export const holdsSecretAt = (ast: SchemaAST.AST, path: ReadonlyArray<string>): boolean => {
  const seen = new Set<SchemaAST.AST>()
  const holds = (form: SchemaAST.AST): boolean => {
    if (seen.has(form)) return false
    seen.add(form)
    return formsOf(form).some((each) => isRedacted(each) || allChildrenOf(each).some(holds))
  }
  const reached = path.reduce<ReadonlyArray<SchemaAST.AST>>(
    (forms, name) => forms.flatMap((form) => childrenOf(form, name)).flatMap(formsOf),
    formsOf(ast)
  )
  return isSecretAt(ast, path) || reached.some(holds)
}

const formsOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => [
  ast,
  ...(ast._tag === "Union" ? ast.types.flatMap(formsOf) : ast._tag === "Suspend" ? formsOf(ast.thunk()) : []),
  ...(ast.encoding ?? []).flatMap(({ to }) => formsOf(to))
]

const childrenOf = (ast: SchemaAST.AST, name: string): ReadonlyArray<SchemaAST.AST> => {
  if (ast._tag === "Arrays") return [ast.elements[Number(name)] ?? ast.rest[0] ?? []].flat()
  if (ast._tag !== "Objects") return []
  const property = ast.propertySignatures.find((each) => fold(String(each.name)) === fold(name))
  return property === undefined ? ast.indexSignatures.map(({ type }) => type) : [property.type]
}

const allChildrenOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  ast._tag === "Arrays"
    ? [...ast.elements, ...ast.rest]
    : ast._tag === "Objects"
      ? [...ast.propertySignatures, ...ast.indexSignatures].map(({ type }) => type)
      : []

/** What a Schema says of one place below it. */
export interface SchemaPlace {
  /** The path as the Schema spells it; parts that it does not know are as they were given. */
  readonly path: ReadonlyArray<string>
  /** Whether the Schema has a key there. */
  readonly isKnown: boolean
  readonly shape: Shape
  /** Whether the value, or one that it is part of, is a secret of the Schema. */
  readonly secret: boolean
  readonly description: string | undefined
}

/** Finds a place below a Schema, in any case. */
export const placeAt = (ast: SchemaAST.AST, path: ReadonlyArray<string>): SchemaPlace => {
  const spelled: Array<string> = []
  let asts: ReadonlyArray<SchemaAST.AST> = [ast]
  let shape = shapeOf(asts)
  for (const name of path) {
    const below = step(shape, name)
    // The names of a record of single values may have several parts: `override:node:http`.
    if (below.asts.length === 0 && isLeaf(asts) && spelled.length > 0) spelled.push(name)
    else {
      asts = below.asts
      spelled.push(below.name)
    }
    shape = shapeOf(asts)
  }
  return { path: spelled, isKnown: asts.length > 0, shape, secret: isSecretAt(ast, path), description: describe(asts) }
}

const step = (shape: Shape, name: string): { readonly name: string; readonly asts: ReadonlyArray<SchemaAST.AST> } => {
  const asts: Array<SchemaAST.AST> = [...shape.elementAt(Number(name))]
  let spelled = name
  for (const { indexSignatures, propertySignatures } of shape.objects) {
    const property = propertySignatures.find((each) => fold(String(each.name)) === fold(name))
    if (property !== undefined) spelled = String(property.name)
    asts.push(...(property === undefined ? indexSignatures.map(({ type }) => type) : [property.type]))
  }
  return { name: spelled, asts }
}

/** The description of a key, or of what stands there. */
export const describe = (asts: ReadonlyArray<SchemaAST.AST>): string | undefined => {
  for (const ast of asts) {
    const ofKey = ast.context?.annotations?.["description"]
    const description = typeof ofKey === "string" ? ofKey : SchemaAST.resolveDescription(ast)
    if (description !== undefined) return description
  }
  return undefined
}

/** The names of the keys that a Schema declares. */
export const keysOf = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  shapeOf([ast]).objects.flatMap(({ propertySignatures }) => propertySignatures.map(({ name }) => String(name)))

/** What a place takes, in words. */
export const expectation = ({ arrays, leaf, literals, number, objects, opaque, text }: Shape): string => {
  const single = number ? "a number" : text || (leaf && literals.length === 0) ? "a text" : undefined
  const words = [
    ...(literals.length > 0 ? [`one of ${literals.join(", ")}`] : []),
    ...(single === undefined ? [] : [single]),
    ...(arrays.length > 0 ? ["a list"] : []),
    ...(objects.length > 0 ? ["a section with keys"] : [])
  ]
  return opaque || words.length === 0 ? "any value" : words.join(" or ")
}
