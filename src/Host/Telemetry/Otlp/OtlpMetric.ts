/** Effect's metrics as OTLP has them, each with all its series. */
import { attributesOf, type Snapshot, unitOf } from "../MetricUnit.ts"
import { Nanos, type NumberDataPoint, type OtlpMetric } from "./OtlpMessages.ts"
import { Attributes } from "./OtlpValue.ts"

/** Everything is counted from the start. */
const cumulative = 2

/** A snapshot of all metrics, in nanoseconds since the epoch: from when they count, and when they were read. */
export const make = (
  snapshots: ReadonlyArray<Snapshot>,
  startTime: bigint,
  time: bigint
): ReadonlyArray<OtlpMetric> => {
  const metrics = new Map<string, OtlpMetric>()
  const times = { startTimeUnixNano: new Nanos(startTime), timeUnixNano: new Nanos(time) }
  for (const snapshot of snapshots) {
    const part = metricOf(snapshot, { ...times, attributes: new Attributes(attributesOf(snapshot)) })
    const key = `${snapshot.type} ${part.sum?.isMonotonic} ${part.unit} ${part.name}`
    const metric = metrics.get(key)
    if (metric === undefined) metrics.set(key, part)
    else append(metric, part)
  }
  return [...metrics.values()]
}

const append = (metric: OtlpMetric, part: OtlpMetric): void => {
  for (const form of ["gauge", "sum", "histogram", "summary"] as const) {
    // Both are of the same form.
    ;(metric[form]?.dataPoints as Array<unknown> | undefined)?.push(...(part[form]?.dataPoints ?? []))
  }
}

interface Point {
  readonly attributes: Attributes
  readonly startTimeUnixNano: Nanos
  readonly timeUnixNano: Nanos
}

const metricOf = (snapshot: Snapshot, point: Point): OtlpMetric => {
  const head = { name: snapshot.id, description: snapshot.description, unit: unitOf(snapshot) }
  switch (snapshot.type) {
    case "Counter": {
      const { count, incremental } = snapshot.state
      const dataPoints = [{ ...point, ...numberOf(count) }]
      return { ...head, sum: { dataPoints, aggregationTemporality: cumulative, isMonotonic: incremental } }
    }
    case "Gauge":
      return { ...head, gauge: { dataPoints: [{ ...point, ...numberOf(snapshot.state.value) }] } }
    case "Frequency": {
      const dataPoints = Array.from(snapshot.state.occurrences, ([key, count]) => ({
        ...point,
        attributes: new Attributes([...point.attributes.entries, ["key", key]]),
        ...numberOf(count)
      }))
      return { ...head, sum: { dataPoints, aggregationTemporality: cumulative, isMonotonic: true } }
    }
    case "Histogram": {
      const { count, max, min, sum } = snapshot.state
      const dataPoints = [
        {
          ...point,
          count,
          sum,
          ...bucketsOf(snapshot.state),
          min: count === 0 ? undefined : min,
          max: count === 0 ? undefined : max
        }
      ]
      return { ...head, histogram: { dataPoints, aggregationTemporality: cumulative } }
    }
    case "Summary": {
      const { count, quantiles, sum } = snapshot.state
      const quantileValues = quantiles.flatMap(([quantile, value]) =>
        value === undefined ? [] : [{ quantile, value }]
      )
      return { ...head, summary: { dataPoints: [{ ...point, count, sum, quantileValues }] } }
    }
  }
}

const numberOf = (value: number | bigint): Pick<NumberDataPoint, "asInt" | "asDouble"> =>
  typeof value === "bigint"
    ? BigInt.asIntN(64, value) === value
      ? { asInt: String(value) }
      : { asDouble: Number(value) }
    : { asDouble: value }

/** Effect counts what is at most a boundary, OTLP what lies between two; the last bucket has no upper boundary. */
const bucketsOf = (state: {
  readonly buckets: ReadonlyArray<readonly [number, number]>
  readonly count: number
}): { readonly bucketCounts: ReadonlyArray<number>; readonly explicitBounds: ReadonlyArray<number> } => {
  const bucketCounts: Array<number> = []
  const explicitBounds: Array<number> = []
  let below = 0
  for (const [boundary, cumulated] of state.buckets) {
    if (boundary === Number.POSITIVE_INFINITY) break
    explicitBounds.push(boundary)
    bucketCounts.push(cumulated - below)
    below = cumulated
  }
  bucketCounts.push(state.count - below)
  return { bucketCounts, explicitBounds }
}
