/**
 * Metrics of Node and V8, by the names of OpenTelemetry's semantic conventions
 * (https://opentelemetry.io/docs/specs/semconv/runtime/).
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Scope } from "effect/Scope"
import {
  constants,
  eventLoopUtilization,
  monitorEventLoopDelay,
  type PerformanceEntry,
  type PerformanceNodeEntry,
  PerformanceObserver
} from "node:perf_hooks"
import { getHeapSpaceStatistics } from "node:v8"
import * as Observed from "./Observed.ts"

/** Collects until the scope closes. */
export const collect: Effect.Effect<void, never, Scope> = Effect.gen(function* () {
  yield* Observed.register([...(yield* eventLoopDelay), ...eventLoopTime(), ...heap()])
  yield* garbageCollection
})

/** Delays since they were last read, of a timer that asks to be woken every 10 ms. */
const eventLoopDelay = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const histogram = monitorEventLoopDelay({ resolution: 10 })
      histogram.enable()
      return histogram
    }),
    (histogram) => Effect.sync(() => histogram.disable())
  ),
  (histogram): ReadonlyArray<Observed.Observed> => {
    const read = Observed.shared(() => {
      const values = {
        min: histogram.min,
        max: histogram.max,
        mean: histogram.mean,
        stddev: histogram.stddev,
        p50: histogram.percentile(50),
        p90: histogram.percentile(90),
        p99: histogram.percentile(99)
      }
      // Before the first timer all but the percentiles are out of range.
      const isEmpty = histogram.count === 0
      histogram.reset()
      return isEmpty ? undefined : values
    })
    return delayStatistics.map(([statistic, words]) => ({
      name: `nodejs.eventloop.delay.${statistic}`,
      description: `Event loop ${words} delay.`,
      unit: "s",
      kind: "gauge",
      read: () => (read()?.[statistic] ?? 0) / 1e9
    }))
  }
)

const delayStatistics = [
  ["min", "minimum"],
  ["max", "maximum"],
  ["mean", "mean"],
  ["stddev", "standard deviation"],
  ["p50", "50 percentile"],
  ["p90", "90 percentile"],
  ["p99", "99 percentile"]
] as const

const eventLoopTime = (): ReadonlyArray<Observed.Observed> => {
  let last = eventLoopUtilization()
  const utilization = Observed.shared(() => {
    const now = eventLoopUtilization()
    const between = eventLoopUtilization(now, last)
    last = now
    return between.utilization
  })
  return [
    {
      name: "nodejs.eventloop.utilization",
      description: "Share of time that the event loop was active since this was last read.",
      unit: "1",
      kind: "gauge",
      read: utilization
    },
    ...(["active", "idle"] as const).map((state): Observed.Observed => ({
      name: "nodejs.eventloop.time",
      description: "Time that the event loop has spent in each state.",
      unit: "s",
      attributes: { "nodejs.eventloop.state": state },
      kind: "counter",
      read: () => eventLoopUtilization()[state] / 1e3
    }))
  ]
}

const heap = (): ReadonlyArray<Observed.Observed> => {
  const spaces = Observed.shared(() => new Map(getHeapSpaceStatistics().map((space) => [space.space_name, space])))
  return [...spaces().keys()].flatMap((name) =>
    heapMetrics.map(([metric, description, field]): Observed.Observed => ({
      name: metric,
      description,
      unit: "By",
      attributes: { "v8js.heap.space.name": name },
      kind: "upDownCounter",
      read: () => spaces().get(name)?.[field] ?? 0
    }))
  )
}

const heapMetrics = [
  ["v8js.memory.heap.used", "Heap memory in use.", "space_used_size"],
  ["v8js.memory.heap.space.size", "Heap memory that is set aside for a heap space.", "space_size"],
  ["v8js.memory.heap.space.available_size", "Heap memory that a heap space can still give.", "space_available_size"],
  ["v8js.memory.heap.space.physical_size", "Heap memory that a heap space has committed.", "physical_space_size"]
] as const

const kinds: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: "major",
  [constants.NODE_PERFORMANCE_GC_MINOR]: "minor",
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: "incremental",
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: "weakcb"
}

const garbageCollection = Effect.gen(function* () {
  const context = yield* Effect.context<never>()
  const durations = new Map(
    Object.entries(kinds).map(([kind, type]) => [
      Number(kind),
      Metric.histogram("v8js.gc.duration", {
        description: "Garbage collection duration.",
        boundaries: [0.01, 0.1, 1, 10],
        attributes: { "v8js.gc.type": type, unit: "s" }
      })
    ])
  )
  const record = (entry: PerformanceEntry) => {
    const { kind } = (entry as PerformanceNodeEntry).detail as { readonly kind: number }
    durations.get(kind)?.updateUnsafe(entry.duration / 1e3, context)
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const observer = new PerformanceObserver((list) => list.getEntries().forEach(record))
      observer.observe({ entryTypes: ["gc"] })
      return observer
    }),
    (observer) => Effect.sync(() => observer.disconnect())
  )
})
