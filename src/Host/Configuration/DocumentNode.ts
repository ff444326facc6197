/**
 * A configuration file once it is read: its values with their positions, before anything is merged.
 */
import { type Assignment, fold, maxDepth, type Source } from "./Assignment.ts"

/** Counted from one. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** A value in a file. Entries keep their order and their duplicates. */
export type DocumentNode = Position &
  (
    | { readonly _tag: "Scalar"; readonly text: string; readonly parsed: string | number | boolean | null }
    | { readonly _tag: "Section"; readonly entries: ReadonlyArray<Entry> }
    | { readonly _tag: "List"; readonly items: ReadonlyArray<DocumentNode> }
  )

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

/** What a document sets, in its own order. */
export interface DocumentAssignments {
  readonly assignments: ReadonlyArray<Assignment>
  readonly errors: ReadonlyArray<DocumentError>
}

/**
 * Flattens a document. A key may itself be a path (`host:urls`); a key that is set twice, however it is spelled, is an
 * error at its second place.
 */
export const flatten = (root: DocumentNode, sourceAt: (position: Position) => Source): DocumentAssignments => {
  if (root._tag !== "Section") {
    const found = root._tag === "List" ? "a list" : "a single value"
    return {
      assignments: [],
      errors: [new DocumentError(root, "keys with values", `expected keys with values, found ${found}`)]
    }
  }
  const assignments: Array<Assignment> = []
  const errors: Array<DocumentError> = []
  const first = new Map<string, Position>()

  const visit = (node: DocumentNode, path: ReadonlyArray<string>, folded: string): void => {
    if (path.length > maxDepth) {
      errors.push(tooDeep(node))
      return
    }
    const source = sourceAt(node)
    switch (node._tag) {
      case "Scalar":
        assignments.push({ path, value: node, source })
        break
      case "Section":
        assignments.push({ path, value: section, source })
        for (const entry of node.entries) visitEntry(entry, path, `${folded}:`)
        break
      case "List":
        assignments.push({ path, value: list, source })
        node.items.forEach((item, index) => visit(item, [...path, String(index)], `${folded}:${index}`))
        break
    }
  }

  const visitEntry = (entry: Entry, parent: ReadonlyArray<string>, prefix: string): void => {
    const path = entry.key.includes(":") ? [...parent, ...entry.key.split(":")] : [...parent, entry.key]
    const folded = prefix + fold(entry.key)
    const earlier = first.get(folded)
    if (earlier === undefined) {
      first.set(folded, entry)
      visit(entry.value, path, folded)
      return
    }
    const at = `line ${earlier.line}, column ${earlier.column}`
    const key = JSON.stringify(path.join(":"))
    errors.push(new DocumentError(entry, "each key once", `duplicate key ${key}, first set at ${at}`))
  }

  for (const entry of root.entries) visitEntry(entry, [], "")
  return { assignments, errors }
}

const section = { _tag: "Section" } as const
const list = { _tag: "List" } as const

/** The error of a document that is nested deeper than any configuration needs to be. */
export const tooDeep = (position: Position): DocumentError =>
  new DocumentError(position, `at most ${maxDepth} levels`, `nested deeper than ${maxDepth} levels`)
