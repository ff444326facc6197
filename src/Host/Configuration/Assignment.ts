/**
 * Assignments: what every source of configuration comes down to.
 *
 * A variable or an argument assigns one value to a key, and a file assigns all that it holds to the root. The tree is
 * merged from them, and they stay beside it, so that every value can be traced to everything that set it.
 */
import type { Content, Position } from "./DocumentNode.ts"

/** Where an assignment comes from. */
export type Source =
  | { readonly _tag: "File"; readonly path: string; readonly line: number; readonly column: number }
  | { readonly _tag: "Variable"; readonly name: string }
  /** `name` is the argument without its value, as it was typed: `--host:urls`. */
  | { readonly _tag: "Argument"; readonly name: string }
  /** Values that the program itself gave. */
  | { readonly _tag: "Program"; readonly name: string }

/** What one source sets at a key: a single value, or a section or a list with all that it holds. */
export interface Assignment {
  /** The key's parts, as they were spelled; case does not matter. */
  readonly path: ReadonlyArray<string>
  readonly value: Content
  readonly source: Source
}

/** No key has more parts than this: it bounds every walk over the tree. */
export const maxDepth = 100

/** Keys that differ only in case are the same key. */
export const fold = (name: string): string => name.toLowerCase()

/** A text, as variables and arguments give it. */
export const text = (value: string): Content => ({ _tag: "Scalar", text: value, parsed: value })

/**
 * What an assignment means for the keys below its place: for each, by its name, an assignment whose path begins there; with
 * `wanted`, in lower case, for the keys of that name alone. A key of a file may itself be a path (`host:urls`).
 */
export function* split(
  { path, source, value }: Assignment,
  wanted?: string
): Iterable<readonly [name: string, Assignment]> {
  const isWanted = (name: string) => wanted === undefined || wanted === fold(name)
  if (path.length > 0) {
    if (isWanted(path[0]!)) yield [path[0]!, { path: path.slice(1), value, source }]
  } else if (value._tag === "Section") {
    for (const entry of value.entries) {
      const [name, ...rest] = entry.key.split(":")
      // A section and a list begin with their key, which in YAML may stand lines before what it holds.
      const position = entry.value._tag === "Scalar" ? entry.value : entry
      if (isWanted(name!)) yield [name!, { path: rest, value: entry.value, source: sourceAt(source, position) }]
    }
  } else if (value._tag === "List") {
    for (const [index, item] of value.items.entries()) {
      if (isWanted(String(index))) yield [String(index), { path: [], value: item, source: sourceAt(source, item) }]
    }
  }
}

const sourceAt = (source: Source, position: Position): Source =>
  source._tag === "File" ? new FilePlace(source.path, position) : source

/** A place in a file. Where it is, is asked only of the few places that somebody is told of. */
class FilePlace {
  readonly _tag = "File"
  readonly path: string
  readonly #position: Position

  constructor(path: string, position: Position) {
    this.path = path
    this.#position = position
  }

  get line(): number {
    return this.#position.line
  }

  get column(): number {
    return this.#position.column
  }
}

/** Variables and arguments set single values only: they never replace a section or a list. */
export const isText = (source: Source): boolean => source._tag === "Variable" || source._tag === "Argument"

/** The source as a person would name it. */
export const describeSource = (source: Source): string => {
  switch (source._tag) {
    case "File":
      return `${source.path}:${source.line}:${source.column}`
    case "Variable":
      return `environment variable ${source.name}`
    case "Argument":
      return `argument ${source.name}`
    case "Program":
      return source.name
  }
}
