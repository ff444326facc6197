/**
 * A configuration file once it is read: its values with their positions, before anything is merged.
 */
import { fold, maxDepth } from "./Assignment.ts"

/** Counted from one. */
export interface Position {
  readonly line: number
  readonly column: number
}

/**
 * A single value. It keeps the text that stood in the source, so that `007` stays `007` where a text is wanted.
 */
export interface Scalar {
  readonly _tag: "Scalar"
  readonly text: string
  readonly parsed: string | number | boolean | null
}

/** What a source holds. Entries keep their order and their duplicates. */
export type Content =
  | Scalar
  | { readonly _tag: "Section"; readonly entries: ReadonlyArray<Entry> }
  | { readonly _tag: "List"; readonly items: ReadonlyArray<DocumentNode> }

/** A value in a file. */
export type DocumentNode = Position & Content

/** A key with its value, at the key's position. */
export interface Entry extends Position {
  readonly key: string
  readonly value: DocumentNode
}

/** A file that cannot be read as its format, and where. The message quotes no more of the file than one character. */
export class DocumentError extends Error {
  override readonly name = "DocumentError"
  readonly position: Position
  readonly expected: string

  constructor(position: Position, expected: string, message: string) {
    super(message)
    this.position = position
    this.expected = expected
  }
}

/**
 * What a document must not hold although its format allows it: a root without keys, a key that is set twice, however it is
 * spelled, and keys of too many parts.
 */
export const faults = (root: DocumentNode): ReadonlyArray<DocumentError> => {
  if (root._tag !== "Section") {
    const found = root._tag === "List" ? "a list" : "a single value"
    return [new DocumentError(root, "keys with values", `expected keys with values, found ${found}`)]
  }
  const errors: Array<DocumentError> = []
  const first = new Map<string, Position>()

  const visit = (node: DocumentNode, key: string, depth: number): void => {
    if (depth > maxDepth) errors.push(tooDeep(node))
    else if (node._tag === "Section") for (const entry of node.entries) visitEntry(entry, `${key}:`, depth)
    else if (node._tag === "List") {
      for (const [index, item] of node.items.entries()) visit(item, `${key}:${index}`, depth + 1)
    }
  }

  const visitEntry = (entry: Entry, prefix: string, depth: number): void => {
    const key = prefix + entry.key
    const earlier = first.get(fold(key))
    if (earlier === undefined) {
      first.set(fold(key), entry)
      visit(entry.value, key, depth + entry.key.split(":").length)
      return
    }
    const at = `line ${earlier.line}, column ${earlier.column}`
    errors.push(new DocumentError(entry, "each key once", `duplicate key ${JSON.stringify(key)}, first set at ${at}`))
  }

  for (const entry of root.entries) visitEntry(entry, "", 0)
  return errors
}

/** The error of a document that is nested deeper than any configuration needs to be. */
export const tooDeep = (position: Position): DocumentError =>
  new DocumentError(position, `at most ${maxDepth} levels`, `nested deeper than ${maxDepth} levels`)
