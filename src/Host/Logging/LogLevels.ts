/**
 * Log levels: the six names that a configuration uses, and the table that says from which level on a namespace logs.
 */
import * as Memo from "../Memo.ts"
import type * as LogLevel from "effect/LogLevel"

/** The level names of the configuration, least severe first. */
export const names = ["Verbose", "Debug", "Information", "Warning", "Error", "Fatal"] as const

/** A level as the configuration names it. */
export type LevelName = (typeof names)[number]

/** The level names as Effect's levels. */
export const toEffect: { readonly [Name in LevelName]: LogLevel.Severity } = {
  Verbose: "Trace",
  Debug: "Debug",
  Information: "Info",
  Warning: "Warn",
  Error: "Error",
  Fatal: "Fatal"
}

/** Effect's levels as the configuration names them. */
export const fromEffect: { readonly [Level in LogLevel.LogLevel]: LevelName } = {
  All: "Verbose",
  Trace: "Verbose",
  Debug: "Debug",
  Info: "Information",
  Warn: "Warning",
  Error: "Error",
  Fatal: "Fatal",
  None: "Fatal"
}

/** Whether a line of `level` passes where `minimum` is the least level that does. */
export const passes = (level: LevelName, minimum: LevelName): boolean => severity[level] >= severity[minimum]

const severity = Object.fromEntries(names.map((name, index) => [name, index])) as { [Name in LevelName]: number }

/**
 * From which level on each namespace logs.
 *
 * An override holds for its namespace and all below it; of several, the longest wins. Case does not matter, and `.`, `/`
 * and `:` all separate the segments of a namespace, so that `layerhost:secretstore` means `layerhost/SecretStore`.
 */
export interface LevelTable {
  readonly minimumLevel: LevelName
  readonly override: { readonly [namespace: string]: LevelName }
}

/** A level table made ready for look-ups. */
export interface LogLevels {
  /** The lowest level in the table: nothing below it is ever written. */
  readonly lowest: LevelName
  /** The minimum level of a namespace. */
  readonly minimumOf: (namespace: string) => LevelName
}

/** Makes a level table ready for look-ups, each of which is remembered. */
export const make = (table: LevelTable): LogLevels => {
  const overrides = new Map(Object.entries(table.override).map(([namespace, level]) => [normalize(namespace), level]))
  return {
    lowest: [...overrides.values()].reduce(
      (lowest, level) => (passes(level, lowest) ? lowest : level),
      table.minimumLevel
    ),
    minimumOf: Memo.make((namespace: string) => longestMatch(overrides, normalize(namespace)) ?? table.minimumLevel)
  }
}

const normalize = (namespace: string): string => namespace.toLowerCase().replaceAll(/[/:]/g, ".")

const longestMatch = (overrides: ReadonlyMap<string, LevelName>, namespace: string): LevelName | undefined => {
  let prefix = namespace
  while (true) {
    const level = overrides.get(prefix)
    if (level !== undefined) return level
    const end = prefix.lastIndexOf(".")
    if (end === -1) return undefined
    prefix = prefix.slice(0, end)
  }
}
