import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Schema from "effect/Schema"
import * as MetricsRoute from "../../../src/Host/Telemetry/MetricsRoute.ts"
import * as ProcessMetrics from "../../../src/Host/Telemetry/ProcessMetrics.ts"
import * as PrometheusText from "../../../src/Host/Telemetry/PrometheusText.ts"
import * as RuntimeMetrics from "../../../src/Host/Telemetry/RuntimeMetrics.ts"
import * as promtool from "./support/promtool.ts"

/** The text of the metrics that an effect updates, in a registry of its own. */
const textOf = <A>(format: PrometheusText.TextFormat, update: Effect.Effect<A>, target?: PrometheusText.Target) =>
  Effect.andThen(update, Metric.snapshot).pipe(
    Effect.map((snapshots) => PrometheusText.format(snapshots, format, target)),
    Effect.provideContext(Context.make(Metric.MetricRegistry, new Map()))
  )

const requests = Metric.counter("shop.requests", { description: 'How "many"\\\nthere were', incremental: true })

const everyType = Effect.all([
  Metric.update(Metric.withAttributes(requests, { "http.route": '/a"b\\c\nd' }), 2),
  Metric.update(Metric.withAttributes(requests, { "http.route": "/e" }), 3),
  Metric.update(Metric.counter("shop.queue", { description: "Up and down" }), -4),
  Metric.update(Metric.gauge("shop.load", { description: "Load", attributes: { unit: "1" } }), 0.25),
  Metric.update(
    Metric.histogram("shop.request.duration", { description: "Time", boundaries: [0.5, 1], attributes: { unit: "s" } }),
    0.75
  ),
  Metric.update(
    Metric.summary("shop.size", {
      description: "Sizes",
      maxAge: "1 minute",
      maxSize: 10,
      quantiles: [0.5, 1],
      attributes: { unit: "By" }
    }),
    7
  ),
  Metric.update(Metric.frequency("shop.color", { description: "Colors" }), "red")
])

describe("The text format", () => {
  it.effect("shows every type of metric", () =>
    Effect.gen(function* () {
      expect(yield* textOf("prometheus", everyType, { "service.name": "shop" })).toBe(
        `# HELP target_info The service whose metrics these are.
# TYPE target_info gauge
target_info{service_name="shop"} 1
# HELP shop_requests_total How "many"\\\\\\nthere were
# TYPE shop_requests_total counter
shop_requests_total{http_route="/a\\"b\\\\c\\nd"} 2
shop_requests_total{http_route="/e"} 3
# HELP shop_queue Up and down
# TYPE shop_queue gauge
shop_queue -4
# HELP shop_load_ratio Load
# TYPE shop_load_ratio gauge
shop_load_ratio 0.25
# HELP shop_request_duration_seconds Time
# TYPE shop_request_duration_seconds histogram
shop_request_duration_seconds_bucket{le="0.5"} 0
shop_request_duration_seconds_bucket{le="1.0"} 1
shop_request_duration_seconds_bucket{le="+Inf"} 1
shop_request_duration_seconds_sum 0.75
shop_request_duration_seconds_count 1
# HELP shop_size_bytes Sizes
# TYPE shop_size_bytes summary
shop_size_bytes{quantile="0.5"} 7
shop_size_bytes{quantile="1.0"} 7
shop_size_bytes_sum 7
shop_size_bytes_count 1
# HELP shop_color_total Colors
# TYPE shop_color_total counter
shop_color_total{key="red"} 1
`
      )
    })
  )

  it.effect("of OpenMetrics names the family and its unit, and has an end", () =>
    Effect.gen(function* () {
      const text = yield* textOf("openmetrics", everyType, { "service.name": "shop" })
      expect(text).toContain(
        `# HELP target The service whose metrics these are.\n# TYPE target info\ntarget_info{service_name="shop"} 1\n`
      )
      expect(text).toContain(
        `# HELP shop_requests How \\"many\\"\\\\\\nthere were\n# TYPE shop_requests counter\nshop_requests_total{`
      )
      expect(text).toContain(
        "# HELP shop_request_duration_seconds Time\n# TYPE shop_request_duration_seconds histogram\n" +
          "# UNIT shop_request_duration_seconds seconds\nshop_request_duration_seconds_bucket{"
      )
      expect(text.endsWith("# EOF\n")).toBe(true)
    })
  )

  const names: ReadonlyArray<readonly [id: string, unit: string | undefined, counter: string, gauge: string]> = [
    ["a.b", undefined, "a_b_total", "a_b"],
    ["a.b_total", undefined, "a_b_total", "a_b"],
    ["a.count", "{thing}", "a_count_total", "a"],
    ["a_seconds", "s", "a_seconds_total", "a_seconds"],
    ["a.time", "seconds", "a_time_seconds_total", "a_time_seconds"],
    ["a.size", "By", "a_size_bytes_total", "a_size_bytes"],
    ["a.rate", "By/s", "a_rate_bytes_per_second_total", "a_rate_bytes_per_second"],
    ["a.rate", "{thing}/min", "a_rate_total", "a_rate"],
    ["a", "1", "a_total", "a_ratio"],
    ["1a", undefined, "_1a_total", "_1a"],
    ["a--b..", undefined, "a_b_total", "a_b"],
    ["größe", undefined, "gr_e_total", "gr_e"],
    ["a.duration", undefined, "a_duration_seconds_total", "a_duration_seconds"]
  ]
  it.effect.each(names)("calls %j in %j %j as a counter, %j as a gauge", ([id, unit, counter, gauge]) =>
    Effect.gen(function* () {
      const attributes = unit === undefined ? {} : { unit }
      const asCounter = Metric.update(Metric.counter(id, { incremental: true, attributes }), 1)
      expect(yield* textOf("prometheus", asCounter)).toContain(`\n${counter} 1\n`)
      expect(yield* textOf("prometheus", Metric.update(Metric.gauge(id, { attributes }), 1))).toContain(
        `\n${gauge} 1\n`
      )
    })
  )

  it.effect("leaves out what would clash", () =>
    Effect.gen(function* () {
      const clashes = Effect.all([
        Metric.update(Metric.gauge("a.b"), 1),
        Metric.update(Metric.gauge("a_b"), 2),
        Metric.update(Metric.counter("a.b", { incremental: true }), 3),
        Metric.update(Metric.histogram("h", { boundaries: [1], attributes: { le: "x", "l.e": "1", l_e: "2" } }), 1),
        Metric.update(Metric.gauge("h.sum"), 4)
      ])
      expect(yield* textOf("openmetrics", clashes)).toBe(
        `# HELP a_b a.b
# TYPE a_b gauge
a_b 1
# HELP h h
# TYPE h histogram
h_bucket{exported_le="x",l_e="1",le="1.0"} 1
h_bucket{exported_le="x",l_e="1",le="+Inf"} 1
h_sum{exported_le="x",l_e="1"} 1
h_count{exported_le="x",l_e="1"} 1
# EOF
`
      )
    })
  )

  it.effect("shows a bounded number of series of one metric", () =>
    Effect.gen(function* () {
      const many = Effect.forEach(Array.from({ length: PrometheusText.maxSeries + 10 }), (_, i) =>
        Metric.update(Metric.withAttributes(requests, { user: String(i) }), 1)
      )
      const text = yield* textOf("prometheus", many)
      expect(text.match(/^shop_requests_total\{/gm)?.length).toBe(PrometheusText.maxSeries)
    })
  )

  it.effect.skipIf(!promtool.hasPromtool)("of the host's own metrics finds no fault with promtool", () =>
    Effect.gen(function* () {
      const own = Effect.andThen(RuntimeMetrics.collect, ProcessMetrics.collect()).pipe(Effect.andThen(everyType))
      const text = yield* Effect.scoped(
        Effect.andThen(own, Metric.snapshot).pipe(
          Effect.map((snapshots) => PrometheusText.format(snapshots, "prometheus", { "service.name": "shop" }))
        )
      ).pipe(Effect.provideContext(Context.make(Metric.MetricRegistry, new Map())))
      expect(promtool.check(text)).toBe("")
      for (const name of [
        "nodejs_eventloop_delay_p99_seconds",
        "nodejs_eventloop_utilization_ratio",
        'nodejs_eventloop_time_seconds_total{nodejs_eventloop_state="active"}',
        'v8js_memory_heap_used_bytes{v8js_heap_space_name="old_space"}',
        'process_cpu_time_seconds_total{cpu_mode="user"}',
        "process_memory_usage_bytes",
        "process_unix_file_descriptor",
        "process_start_time_seconds"
      ]) {
        expect(text).toMatch(new RegExp(`^${RegExp.escape(name)} \\d`, "m"))
      }
    })
  )

  const name = Arbitrary.schema(
    Schema.Union([
      Schema.String,
      Schema.Literals(["a", "a.b", "a_b_total", "h", "h_count", "_", "", "le", "target", "😀"])
    ])
  )
  const metric = Arbitrary.schema(
    Schema.Struct({
      type: Schema.Literals(["counter", "gauge", "histogram", "summary", "frequency"]),
      value: Schema.Number
    })
  )
  const hostile = Arbitrary.array(
    Arbitrary.flatMap(metric, (metric) =>
      Arbitrary.flatMap(name, (id) =>
        Arbitrary.flatMap(name, (label) => Arbitrary.map(name, (text) => ({ ...metric, id, label, text })))
      )
    ),
    { minLength: 50, maxLength: 50 }
  )

  const updateHostile = (each: {
    readonly type: string
    readonly id: string
    readonly label: string
    readonly text: string
    readonly value: number
  }): Effect.Effect<void> => {
    const options = { description: each.text, attributes: { [each.label]: each.text, unit: each.label } }
    switch (each.type) {
      case "counter":
        return Metric.update(Metric.counter(each.id, { ...options, incremental: true }), each.value)
      case "gauge":
        return Metric.update(Metric.gauge(each.id, options), each.value)
      case "histogram":
        return Metric.update(Metric.histogram(each.id, { ...options, boundaries: [0.5, 10] }), Math.abs(each.value))
      case "summary": {
        const summary = { ...options, maxAge: "1 minute", maxSize: 10, quantiles: [0.5] } as const
        return Metric.update(Metric.summary(each.id, summary), each.value)
      }
      default:
        return Metric.update(Metric.frequency(each.id, options), each.text)
    }
  }

  it.effect.prop(
    "is read by promtool whatever metrics and labels are called",
    { hostile },
    ({ hostile }) =>
      Effect.gen(function* () {
        const text = yield* textOf("prometheus", Effect.forEach(hostile, updateHostile))
        // The names are no good style, but the text is whole: no error, and no series twice.
        expect(text).not.toMatch(/\n\n/)
        if (promtool.hasPromtool) expect(promtool.check(text)).not.toMatch(/error|collected before/i)
      }),
    { arbitrary: { runs: 20 } }
  )
})

describe("The scraper", () => {
  const prometheus =
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
  it.each([
    [undefined, "prometheus"],
    ["*/*", "prometheus"],
    ["text/plain", "prometheus"],
    ["text/html, */*", "prometheus"],
    [prometheus, "openmetrics"],
    ["application/openmetrics-text", "openmetrics"],
    ["application/openmetrics-text; version=0.0.1", "prometheus"],
    ["application/openmetrics-text; q=0", "prometheus"],
    ["application/openmetrics-text; q=0.4, text/plain; q=0.5", "prometheus"],
    ["APPLICATION/OPENMETRICS-TEXT; VERSION=1.0.0", "openmetrics"],
    [";;,q=x,=", "prometheus"]
  ] as const)("that accepts %j gets %s", (accept, format) => {
    expect(MetricsRoute.formatFor(accept)).toBe(format)
  })
})
