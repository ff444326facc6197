/**
 * Names in Prometheus' spelling, by OpenTelemetry's rules for it
 * (https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/): the unit stands in the name.
 */
import type { Snapshot } from "./MetricUnit.ts"
import { unitOf } from "./MetricUnit.ts"

/** The types of Prometheus that Effect's metrics have. */
export type FamilyType = "counter" | "gauge" | "histogram" | "summary"

/** The type of a metric. A counter that may go down is a gauge. */
export const typeOf = (snapshot: Snapshot): FamilyType => {
  switch (snapshot.type) {
    case "Counter":
      return snapshot.state.incremental ? "counter" : "gauge"
    case "Frequency":
      return "counter"
    case "Gauge":
      return "gauge"
    case "Histogram":
      return "histogram"
    case "Summary":
      return "summary"
  }
}

/** The words for units of UCUM. */
const words = new Map([
  ["d", "days"],
  ["h", "hours"],
  ["min", "minutes"],
  ["s", "seconds"],
  ["ms", "milliseconds"],
  ["us", "microseconds"],
  ["ns", "nanoseconds"],
  ["By", "bytes"],
  ["KiBy", "kibibytes"],
  ["MiBy", "mebibytes"],
  ["GiBy", "gibibytes"],
  ["kBy", "kilobytes"],
  ["MBy", "megabytes"],
  ["GBy", "gigabytes"],
  ["m", "meters"],
  ["V", "volts"],
  ["A", "amperes"],
  ["J", "joules"],
  ["W", "watts"],
  ["g", "grams"],
  ["Cel", "celsius"],
  ["Hz", "hertz"],
  ["%", "percent"]
])

/** The name of a metric without `_total`, and the word for its unit where it ends in one. */
export const familyOf = (snapshot: Snapshot): { readonly name: string; readonly unit: string | undefined } => {
  const type = typeOf(snapshot)
  const name = sanitize(snapshot.id)
  const unit = wordOf(unitOf(snapshot), type)
  const base = withoutReservedSuffix(name, type)
  return unit === undefined || unit === ""
    ? { name: base, unit: undefined }
    : { name: base === unit || base.endsWith(`_${unit}`) ? base : `${base}_${unit}`, unit }
}

const wordOf = (unit: string | undefined, type: FamilyType): string | undefined => {
  if (unit === undefined || unit.startsWith("{")) return undefined
  if (unit === "1") return type === "gauge" ? "ratio" : undefined
  const [amount, per] = unit.split("/", 2)
  const word = wordOfOne(amount!)
  return per === undefined
    ? word
    : [word, "per", wordOfOne(per).replace(/s$/, "")].filter((part) => part !== "").join("_")
}

const wordOfOne = (unit: string): string =>
  unit.startsWith("{") ? "" : (words.get(unit) ?? sanitize(unit).toLowerCase())

/** Suffixes that Prometheus gives to the samples of one type, and that a name of another type must not end in. */
const reserved: Readonly<Record<FamilyType, RegExp>> = {
  counter: /_total$/,
  gauge: /_(?:total|count|sum|bucket|info|created)$/,
  histogram: /_(?:total|count|sum|bucket|info|created)$/,
  summary: /_(?:total|count|sum|bucket|info|created)$/
}

const withoutReservedSuffix = (name: string, type: FamilyType): string => {
  const stripped = name.replace(reserved[type], "")
  return stripped === "" || stripped === "_" ? `metric${name}` : stripped
}

/** Letters, digits and single underscores, not a digit first. */
const sanitize = (name: string): string => {
  const sanitized = name.replace(/[^A-Za-z0-9]+/g, "_").replace(/(?<=.)_$/, "")
  return /^[A-Za-z_]/.test(sanitized) ? sanitized : `_${sanitized}`
}

/** The name of a label. What Prometheus uses itself gets a prefix, as Prometheus gives it. */
export const labelOf = (name: string): string => {
  const sanitized = sanitize(name)
  return sanitized === "le" || sanitized === "quantile" ? `exported_${sanitized}` : sanitized
}
