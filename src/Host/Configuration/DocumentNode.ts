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

  const visit = (node: DocumentNode, path: ReadonlyArray<string>): void => {
    if (path.length > maxDepth) {
      errors.push(tooDeep(node))
      return
    }
    switch (node._tag) {
      case "Scalar":
        assignments.push({
          path,
          value: { _tag: "Scalar", text: node.text, parsed: node.parsed },
          source: sourceAt(node)
        })
        break
      case "Section":
        assignments.push({ path, value: { _tag: "Section" }, source: sourceAt(node) })
        visitEntries(node.entries, path)
        break
      case "List":
        assignments.push({ path, value: { _tag: "List" }, source: sourceAt(node) })
        node.items.forEach((item, index) => visit(item, [...path, String(index)]))
        break
    }
  }

  const visitEntries = (entries: ReadonlyArray<Entry>, parent: ReadonlyArray<string>): void => {
    for (const entry of entries) {
      const path = [...parent, ...entry.key.split(":")]
      const key = path.join(":")
      const earlier = first.get(fold(key))
      if (earlier !== undefined) {
        const at = `line ${earlier.line}, column ${earlier.column}`
        errors.push(
          new DocumentError(entry, "each key once", `duplicate key ${JSON.stringify(key)}, first set at ${at}`)
        )
        continue
      }
      first.set(fold(key), entry)
      visit(entry.value, path)
    }
  }

  visitEntries(root.entries, [])
  return { assignments, errors }
}

/** The error of a document that is nested deeper than any configuration needs to be. */
export const tooDeep = (position: Position): DocumentError =>
  new DocumentError(position, `at most ${maxDepth} levels`, `nested deeper than ${maxDepth} levels`)
