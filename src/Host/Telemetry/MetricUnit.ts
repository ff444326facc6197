/**
 * The unit of a metric: Effect has no field for it, so that by Effect's convention it is the attribute `unit` or `time_unit`.
 */
import type * as Metric from "effect/Metric"

/** What a snapshot says of one series. */
export type Snapshot = Metric.Metric.Snapshot

const unitAttributes = new Set(["unit", "time_unit"])

/** Words for units, as their UCUM codes (https://ucum.org), which OpenTelemetry uses. */
const codes = new Map([
  ["nanoseconds", "ns"],
  ["microseconds", "us"],
  ["milliseconds", "ms"],
  ["seconds", "s"],
  ["minutes", "min"],
  ["hours", "h"],
  ["days", "d"],
  ["bytes", "By"],
  ["kilobytes", "kBy"],
  ["megabytes", "MBy"],
  ["percent", "%"],
  ["ratio", "1"]
])

/** The UCUM code of a metric's unit. A `.duration` is in seconds by the semantic conventions; else no word is no unit. */
export const unitOf = ({ attributes, id }: Snapshot): string | undefined => {
  const unit = attributes?.["unit"] ?? attributes?.["time_unit"]
  return unit === undefined ? (id.endsWith(".duration") ? "s" : undefined) : (codes.get(unit.toLowerCase()) ?? unit)
}

/** The attributes of a series without those that tell the unit. */
export const attributesOf = ({ attributes }: Snapshot): ReadonlyArray<readonly [string, string]> =>
  attributes === undefined ? [] : Object.entries(attributes).filter(([name]) => !unitAttributes.has(name))
