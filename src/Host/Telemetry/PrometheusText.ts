/**
 * Metrics as Prometheus reads them: its text format 0.0.4, and OpenMetrics 1.0.
 *
 * The text is valid whatever the metrics are called: what would clash is left out, the first one stays.
 */
import type { Snapshot } from "./MetricUnit.ts"
import { attributesOf } from "./MetricUnit.ts"
import { familyOf, type FamilyType, labelOf, typeOf } from "./PrometheusName.ts"

/** The format of a text. */
export type TextFormat = "prometheus" | "openmetrics"

/** The media type of each format. */
export const contentTypes: { readonly [Format in TextFormat]: string } = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
}

/** Series of one metric beyond this many are left out of the text, so that a label that never ends cannot choke a scrape. */
export const maxSeries = 2000

interface Family {
  readonly name: string
  readonly type: FamilyType
  readonly help: string
  readonly unit: string | undefined
  /** The samples of each set of labels. */
  readonly series: Map<string, string>
}

/** Attributes of the service, which become the labels of `target_info`. */
export type Target = Readonly<Record<string, string | number>>

/** Writes a snapshot of all metrics. */
export const format = (snapshots: ReadonlyArray<Snapshot>, format: TextFormat, target: Target = {}): string => {
  const families = new Map<string, Family>()
  for (const snapshot of snapshots) add(families, snapshot)
  let text = formatTarget(format, target)
  const taken = new Set(["target", "target_info"])
  for (const family of families.values()) {
    const names = [family.name, ...suffixes[family.type].map((suffix) => family.name + suffix)]
    if (names.some((name) => taken.has(name))) continue
    for (const name of names) taken.add(name)
    text += formatFamily(family, format)
  }
  return format === "openmetrics" ? `${text}# EOF\n` : text
}

/** What stands behind the family's name in the names of its samples. */
const suffixes: { readonly [Type in FamilyType]: ReadonlyArray<string> } = {
  counter: ["_total"],
  gauge: [],
  histogram: ["_bucket", "_sum", "_count"],
  summary: ["_sum", "_count"]
}

const add = (families: Map<string, Family>, snapshot: Snapshot): void => {
  const { name, unit } = familyOf(snapshot)
  const type = typeOf(snapshot)
  const help = snapshot.description ?? snapshot.id
  let family = families.get(`${type} ${name}`)
  if (family === undefined) {
    family = { name, type, help, unit, series: new Map() }
    families.set(`${type} ${name}`, family)
  }
  const labels = formatLabels(attributesOf(snapshot))
  for (const [key, samples] of formatSeries(name, labels, snapshot)) {
    if (family.series.size < maxSeries && !family.series.has(key)) family.series.set(key, samples)
  }
}

const formatFamily = (family: Family, format: TextFormat): string => {
  // The text format names the samples of a counter, OpenMetrics their family.
  const name = format === "prometheus" && family.type === "counter" ? `${family.name}_total` : family.name
  const unit = format === "openmetrics" && family.unit !== undefined ? `# UNIT ${name} ${family.unit}\n` : ""
  return (
    `# HELP ${name} ${escapeHelp(family.help, format)}\n# TYPE ${name} ${family.type}\n${unit}` +
    family.series.values().toArray().join("")
  )
}

/** The samples of a snapshot by their labels; only a frequency has more than one set of them. */
const formatSeries = (name: string, labels: string, snapshot: Snapshot): ReadonlyArray<readonly [string, string]> => {
  switch (snapshot.type) {
    case "Counter": {
      const suffix = snapshot.state.incremental ? "_total" : ""
      return [[labels, sample(name + suffix, labels, formatNumber(snapshot.state.count))]]
    }
    case "Gauge":
      return [[labels, sample(name, labels, formatNumber(snapshot.state.value))]]
    case "Frequency":
      return Array.from(snapshot.state.occurrences, ([key, count]) => {
        const own = join(labels, formatLabels([["key", key]]))
        return [own, sample(`${name}_total`, own, formatNumber(count))] as const
      })
    case "Histogram": {
      const { buckets, count, sum } = snapshot.state
      let samples = ""
      for (const [boundary, cumulative] of buckets) {
        if (boundary === Number.POSITIVE_INFINITY) continue
        samples += sample(`${name}_bucket`, join(labels, `le="${formatFloat(boundary)}"`), String(cumulative))
      }
      samples += sample(`${name}_bucket`, join(labels, 'le="+Inf"'), String(count))
      return [[labels, samples + sumAndCount(name, labels, sum, count)]]
    }
    case "Summary": {
      const { count, quantiles, sum } = snapshot.state
      let samples = ""
      for (const [quantile, value] of quantiles) {
        if (value === undefined) continue
        samples += sample(name, join(labels, `quantile="${formatFloat(quantile)}"`), formatNumber(value))
      }
      return [[labels, samples + sumAndCount(name, labels, sum, count)]]
    }
  }
}

const sumAndCount = (name: string, labels: string, sum: number, count: number): string =>
  sample(`${name}_sum`, labels, formatNumber(sum)) + sample(`${name}_count`, labels, String(count))

const sample = (name: string, labels: string, value: string): string =>
  labels === "" ? `${name} ${value}\n` : `${name}{${labels}} ${value}\n`

const join = (labels: string, more: string): string => (labels === "" ? more : `${labels},${more}`)

const formatLabels = (attributes: ReadonlyArray<readonly [string, string]>): string => {
  const labels = new Map<string, string>()
  for (const [name, value] of attributes) {
    const label = labelOf(name)
    if (!labels.has(label)) labels.set(label, `${label}="${escapeValue(value)}"`)
  }
  return [...labels.values()].toSorted().join(",")
}

const formatTarget = (format: TextFormat, target: Target): string => {
  const labels = formatLabels(Object.entries(target).map(([name, value]) => [name, String(value)]))
  if (labels === "") return ""
  const [name, type] = format === "openmetrics" ? ["target", "info"] : ["target_info", "gauge"]
  return `# HELP ${name} The service whose metrics these are.\n# TYPE ${name} ${type}\n${sample("target_info", labels, "1")}`
}

const formatNumber = (value: number | bigint): string =>
  value === Number.POSITIVE_INFINITY ? "+Inf" : value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value)

/** OpenMetrics wants boundaries and quantiles to show that they are no integers. */
const formatFloat = (value: number): string => (Number.isInteger(value) ? `${value.toFixed(1)}` : formatNumber(value))

const escapeValue = (text: string): string =>
  text.toWellFormed().replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"')

/** Quotes are escaped in the help of OpenMetrics, and must not be in that of the text format. */
const escapeHelp = (text: string, format: TextFormat): string => {
  const escaped = text.toWellFormed().replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
  return format === "openmetrics" ? escaped.replaceAll('"', '\\"') : escaped
}
