/**
 * Environment variables as configuration: `HOST_MAXREQUESTSIZE` sets `host:maxRequestSize`.
 */
import { type Assignment, maxDepth, text } from "./Assignment.ts"

/** The variables of a process; `process.env` is one. */
export type Variables = Readonly<Record<string, string | undefined>>

/** The key that a variable's name means: a double underscore counts as one, and each underscore parts the key. */
export const toPath = (name: string): ReadonlyArray<string> => name.replaceAll("__", "_").split("_")

/**
 * What the variables set. Empty ones set nothing. Where several names mean one key, the last by name wins, whatever the
 * order in which the process got them.
 */
export const assignments = (variables: Variables): ReadonlyArray<Assignment> =>
  Object.keys(variables)
    .toSorted()
    .flatMap((name): ReadonlyArray<Assignment> => {
      const value = variables[name]
      const path = toPath(name)
      if (value === undefined || value === "" || path.length > maxDepth) return []
      return [{ path, value: text(value), source: { _tag: "Variable", name } }]
    })
