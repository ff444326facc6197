/**
 * Assignments: what every source of configuration comes down to, one entry for each thing that it sets.
 *
 * Files, variables and arguments are all read into assignments, in load order. The tree is merged from them, and they
 * stay beside it, so that every value can be traced to everything that set it.
 */

/** Where an assignment comes from. */
export type Source =
  | { readonly _tag: "File"; readonly path: string; readonly line: number; readonly column: number }
  | { readonly _tag: "Variable"; readonly name: string }
  /** `name` is the argument without its value, as it was typed: `--host:urls`. */
  | { readonly _tag: "Argument"; readonly name: string }
  /** Values that the program itself gave. */
  | { readonly _tag: "Program"; readonly name: string }

/**
 * What is assigned. A scalar keeps the text that stood in the source, so that `007` stays `007` where a text is wanted;
 * sections and lists are marked by an entry of their own, their content follows.
 */
export type Value =
  | { readonly _tag: "Scalar"; readonly text: string; readonly parsed: string | number | boolean | null }
  | { readonly _tag: "Section" }
  | { readonly _tag: "List" }

/** One thing that one source sets. */
export interface Assignment {
  /** The key's parts, as they were spelled; case does not matter. */
  readonly path: ReadonlyArray<string>
  readonly value: Value
  readonly source: Source
}

/** No key has more parts than this: it bounds every walk over the tree. */
export const maxDepth = 100

/** Keys that differ only in case are the same key. */
export const fold = (name: string): string => name.toLowerCase()

/** A text, as variables and arguments give it. */
export const text = (value: string): Value => ({ _tag: "Scalar", text: value, parsed: value })

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
