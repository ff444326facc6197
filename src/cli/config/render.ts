/** What the commands print, as plain text. */
import type { EffectiveValue } from "../../Host/Configuration/EffectiveValues.ts"
import type { Explanation } from "../../Host/Configuration/Explanation.ts"
import * as Table from "./Table.ts"

/** Every key in one line. */
export const values = (all: ReadonlyArray<EffectiveValue>): string =>
  Table.format([
    ["KEY", "VALUE", "SOURCE", "PLUGIN"],
    ...all.map(({ key, plugin, source, value }) => [
      key,
      value === null ? "(not set)" : Table.cell(value),
      source === null ? "-" : Table.source(source),
      plugin ?? "-"
    ])
  ])

/** What a key is, and what sets it. */
export const explanation = (about: Explanation): string =>
  [
    [about.key, ...facts(about).map((fact) => `  ${fact}`)].join("\n"),
    about.sources.length === 0 ? "Nothing sets it." : `In load order:\n${sources(about)}`
  ].join("\n\n")

const facts = (about: Explanation): ReadonlyArray<string> => {
  if (about.plugin === null) return ["no section has this key"]
  return [
    ...(about.description === null ? [] : [about.description]),
    `expects  ${about.expected}`,
    ...(about.default === null ? [] : [`default  ${Table.cell(about.default)}`]),
    `plugin   ${about.plugin}`
  ]
}

const sources = (about: Explanation): string => {
  const isOne = about.sources.every(({ key }) => key.toLowerCase() === about.key.toLowerCase())
  return Table.format(
    about.sources.map(({ key, kind, source, value, wins }) => [
      wins ? "  wins      " : "  overridden",
      ...(isOne ? [] : [key]),
      Table.source(source),
      value === null ? words[kind] : Table.cell(value)
    ])
  )
}

const words = { value: "", list: "(a list)", section: "(a section without keys)" }
