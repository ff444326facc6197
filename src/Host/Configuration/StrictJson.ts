/**
 * JSON by `JSON.parse`, which reads many times faster than a reader that keeps positions: those are found by such a reader
 * once somebody asks for one.
 */
import { fold, maxDepth } from "./Assignment.ts"
import type { DocumentNode, Entry, Position } from "./DocumentNode.ts"
import * as JsonDocument from "./JsonDocument.ts"

/**
 * Reads a JSON text whose root is an object, without any fault. Of any other text, and of the few for which `JSON.parse`
 * alone does not tell all, it is undefined: `JsonDocument` reads those.
 */
export const parse = (text: string): DocumentNode | undefined => {
  const root = tryParse(text)
  if (typeof root !== "object" || root === null || Array.isArray(root)) return undefined
  if (countKeys(root) !== countKeysWritten(text)) return undefined
  let positioned: DocumentNode | undefined
  return wrap(root, () => (positioned ??= JsonDocument.parse(text)))
}

const tryParse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const quote = 0x22
const space = 0x20

/**
 * How many colons of a JSON text stand behind a quote: one for each key, also for one that is set twice and so gone from the
 * parsed value. Those that stand so in texts only add to the number, and it is then that of no value.
 */
const countKeysWritten = (text: string): number => {
  let count = 0
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1)) {
    let before = at - 1
    while (text.charCodeAt(before) <= space) before--
    if (text.charCodeAt(before) === quote) count++
  }
  return count
}

/**
 * How many keys a value has, with all that it holds. Not a number, and so unequal to any, where keys of one object are the
 * same in lower case, are paths (`host:urls`), may have lost their order, as numbers do, or are too deep.
 */
const countKeys = (root: object): number => {
  if (names.size > maxNames) names.clear()
  let count = 0
  let level: Array<object> = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= maxDepth) return Number.NaN
    const next: Array<object> = []
    for (const object of level) {
      if (Array.isArray(object)) {
        for (const item of object) if (typeof item === "object" && item !== null) next.push(item)
        continue
      }
      const mark = ++objects
      for (const key in object) {
        const name = nameOf(key)
        if (name === undefined || name.lastIn === mark) return Number.NaN
        name.lastIn = mark
        count++
        const value = (object as Readonly<Record<string, unknown>>)[key]
        if (typeof value === "object" && value !== null) next.push(value)
      }
    }
    level = next
  }
  return count
}

/** How many objects have been looked through. */
let objects = 0

/** What all spellings of a name share. */
interface Name {
  /** The last object that it stood in, as the count of objects was there. */
  lastIn: number
}

/** The same names come up in object after object: to look one up is cheaper than a set of names for each object. */
const names = new Map<string, Name>()
const maxNames = 4096

/**
 * The name of a key; undefined for a path, for a number, which stands before all other keys in a parsed object, and for what
 * holds a backslash: V8 of Node 26.10 can read one for the key `"\n"`, where an object with such a key came before.
 */
const nameOf = (key: string): Name | undefined => {
  const known = names.get(key)
  if (known !== undefined || /[:\\]/.test(key) || (key >= "0" && key < ":")) return known
  const folded = fold(key)
  const name = (folded === key ? undefined : nameOf(folded)) ?? { lastIn: 0 }
  names.set(key, name)
  return name
}

type Text = Extract<DocumentNode, { readonly _tag: "Scalar" }>
type Keys = Extract<DocumentNode, { readonly _tag: "Section" }>
type Items = Extract<DocumentNode, { readonly _tag: "List" }>

/** The node of a value; `locate` finds the same value in the document that has positions. */
const wrap = (value: unknown, locate: () => DocumentNode): DocumentNode => {
  if (Array.isArray(value)) return new List(value, locate as () => Items)
  if (typeof value === "object" && value !== null) return new Section(value, locate as () => Keys)
  return new Scalar(value as Text["parsed"], locate as () => Text)
}

class Located<Place extends Position> implements Position {
  protected readonly locate: () => Place

  constructor(locate: () => Place) {
    this.locate = locate
  }

  get line(): number {
    return this.locate().line
  }

  get column(): number {
    return this.locate().column
  }
}

class Scalar extends Located<Text> {
  readonly _tag = "Scalar"
  readonly parsed: Text["parsed"]

  constructor(parsed: Text["parsed"], locate: () => Text) {
    super(locate)
    this.parsed = parsed
  }

  /** Only a number can be written in several ways. */
  get text(): string {
    return typeof this.parsed === "number" ? this.locate().text : String(this.parsed)
  }
}

class Section extends Located<Keys> {
  readonly _tag = "Section"
  readonly #value: object
  #entries: ReadonlyArray<Entry> | undefined

  constructor(value: object, locate: () => Keys) {
    super(locate)
    this.#value = value
  }

  get entries(): ReadonlyArray<Entry> {
    return (this.#entries ??= Object.entries(this.#value).map(
      ([key, value], index) => new KeyEntry(key, value, () => this.locate().entries[index]!)
    ))
  }
}

class KeyEntry extends Located<Entry> implements Entry {
  readonly key: string
  readonly #value: unknown
  #node: DocumentNode | undefined

  constructor(key: string, value: unknown, locate: () => Entry) {
    super(locate)
    this.key = key
    this.#value = value
  }

  get value(): DocumentNode {
    return (this.#node ??= wrap(this.#value, () => this.locate().value))
  }
}

class List extends Located<Items> {
  readonly _tag = "List"
  readonly #value: ReadonlyArray<unknown>
  #items: ReadonlyArray<DocumentNode> | undefined

  constructor(value: ReadonlyArray<unknown>, locate: () => Items) {
    super(locate)
    this.#value = value
  }

  get items(): ReadonlyArray<DocumentNode> {
    return (this.#items ??= this.#value.map((item, index) => wrap(item, () => this.locate().items[index]!)))
  }
}
