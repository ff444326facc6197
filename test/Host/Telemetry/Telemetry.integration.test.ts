import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import * as Logging from "../../../src/Host/Logging/Logging.ts"
import type { LogRecord } from "../../../src/Host/Logging/LogRecord.ts"
import * as LogValue from "../../../src/Host/Logging/LogValue.ts"
import * as Telemetry from "../../../src/Host/Telemetry/Telemetry.ts"
import { TelemetryConfig } from "../../../src/Host/Telemetry/TelemetryConfig.ts"
import * as OtlpReceiver from "../../support/otlp/OtlpReceiver.ts"
import { capture } from "./support/log.ts"
import { exchange, handle } from "./support/spans.ts"

const start = (input: Parameters<typeof TelemetryConfig.layer>[0], options: Partial<Telemetry.TelemetryOptions> = {}) =>
  TelemetryConfig.pipe(
    Effect.provide(TelemetryConfig.layer(input)),
    Effect.flatMap((config) => Telemetry.make({ config, environment: {}, version: "9.9.9", plugins: [], ...options }))
  )

const registry = () => Context.make(Metric.MetricRegistry, new Map())

const logLine = (properties: ReadonlyMap<string, unknown>, span: LogRecord["span"]): LogRecord => ({
  date: new Date(1_700_000_000_123),
  level: "Error",
  namespace: "shop",
  message: "It broke",
  error: { type: "Boom", message: "it did", stackTrace: "Boom: it did\n    at here" },
  span,
  requestId: "r1",
  properties,
  budget: LogValue.budget()
})

/** `{ name: value }` of OTLP attributes; an integer is a number, whichever form it had. */
const attributesOf = (attributes: ReadonlyArray<any>): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]))

const plain = (value: any): unknown => {
  const [[type, content]] = Object.entries<any>(value) as [[string, any]]
  if (type === "intValue") return Number(content)
  return type === "arrayValue" ? content.values.map(plain) : content
}

describe.each(["grpc", "http/protobuf", "http/json"] as const)("Exported over %s", (protocol) => {
  const secret = "canary-5f1d"

  const exported = Effect.gen(function* () {
    const receiver = yield* OtlpReceiver.start(protocol)
    const endpoint = protocol === "grpc" ? receiver.url : `${receiver.url}/prefix/`
    const ids = yield* Effect.scoped(
      Effect.gen(function* () {
        const { log, services, tracer } = yield* start(
          {
            name: "shop",
            endpoint,
            protocol,
            headers: [{ name: "X-Api-Key", value: secret }]
          },
          { environment: { OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.name=other,a=b%20c" } }
        )
        const work = Effect.fail(new Error("boom")).pipe(
          Effect.withSpan("SecretStorage.get", {
            attributes: {
              "secret.key": "k1",
              count: -5,
              big: 2 ** 40,
              ratio: 0.5,
              isOpen: true,
              list: ["a", "b"],
              object: { x: 1 },
              password: secret,
              hidden: Redacted.make(secret),
              nothing: undefined
            }
          }),
          Effect.ignore,
          Effect.andThen(Effect.withSpan(Effect.void, "done"))
        )
        const { span } = yield* handle(tracer!, work, {
          request: {
            headers: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1" }
          }
        }).pipe(Effect.provideContext(services))
        log!(
          logLine(
            new Map<string, unknown>([
              ["token", secret],
              ["cart", { items: 2 }]
            ]),
            span
          )
        )
        yield* Metric.update(Metric.counter("shop.requests", { description: "Requests", incremental: true }), 3)
        yield* Metric.update(Metric.counter("shop.queue"), -1)
        yield* Metric.update(Metric.counter("shop.total", { bigint: true, incremental: true }), 2n ** 60n)
        yield* Metric.update(Metric.gauge("shop.load", { attributes: { unit: "1", host: "a" } }), 0.25)
        yield* Metric.update(Metric.gauge("shop.load", { attributes: { unit: "1", host: "b" } }), Number.NaN)
        yield* Metric.update(Metric.histogram("shop.time", { boundaries: [1, 2], attributes: { unit: "s" } }), 1.5)
        yield* Metric.update(Metric.summary("shop.size", { maxAge: "1 minute", maxSize: 10, quantiles: [0.5] }), 7)
        yield* Metric.update(Metric.frequency("shop.color"), "red")
        return { traceId: span.traceId, spanId: span.spanId }
      })
    )
    return { ids, receiver }
  }).pipe((effect) => Effect.suspend(() => Effect.provideContext(effect, registry())))

  it.effect("are the spans of a request, with what they tell", () =>
    Effect.gen(function* () {
      const { ids, receiver } = yield* exported
      expect(receiver.spans.map(({ name }) => name)).toEqual(["SecretStorage.get", "done", "GET /items/{id}"])
      const [failed, done, request] = receiver.spans
      expect(request).toMatchObject({
        traceId: "0af7651916cd43dd8448eb211c80319c",
        spanId: ids.spanId,
        parentSpanId: "b7ad6b7169203331",
        traceState: "a=1",
        kind: 2,
        flags: 0x301,
        startTimeUnixNano: "1000000",
        endTimeUnixNano: "3500000"
      })
      expect(request.status).toBeUndefined()
      expect(attributesOf(request.attributes)["http.response.status_code"]).toBe(200)
      expect(done).toMatchObject({ kind: 1, parentSpanId: ids.spanId, flags: 0x101, status: { code: 1 } })
      expect(failed.status).toEqual({ code: 2, message: "boom" })
      expect(attributesOf(failed.attributes)).toEqual({
        "secret.key": "k1",
        count: -5,
        big: 2 ** 40,
        ratio: 0.5,
        isOpen: true,
        list: ["a", "b"],
        object: '{"x":1}',
        password: "<redacted>",
        hidden: "<redacted>",
        "error.type": "Error"
      })
      expect(failed.events.length).toBe(1)
      expect(failed.events[0]).toMatchObject({ name: "exception", timeUnixNano: failed.endTimeUnixNano })
      expect(attributesOf(failed.events[0].attributes)).toMatchObject({
        "exception.type": "Error",
        "exception.message": "boom"
      })
    }).pipe(Effect.scoped)
  )

  it.effect("are log lines, with the ids of their span", () =>
    Effect.gen(function* () {
      const { ids, receiver } = yield* exported
      expect(receiver.logs.length).toBe(1)
      const [line] = receiver.logs
      expect(line).toMatchObject({
        timeUnixNano: "1700000000123000000",
        severityNumber: 17,
        severityText: "Error",
        body: { stringValue: "It broke" },
        ...ids
      })
      expect(attributesOf(line.attributes)).toEqual({
        "log.logger": "shop",
        "http.request.id": "r1",
        "exception.type": "Boom",
        "exception.message": "it did",
        "exception.stacktrace": "Boom: it did\n    at here",
        token: "<redacted>",
        cart: '{"items":2}'
      })
    }).pipe(Effect.scoped)
  )

  it.effect("are metrics of every type, also those of the process", () =>
    Effect.gen(function* () {
      const { receiver } = yield* exported
      const metric = (name: string) => receiver.metrics.find((each) => each.name === name)
      const points = (name: string) => Object.values<any>(metric(name)).find((part) => part.dataPoints)?.dataPoints
      expect(metric("shop.requests")).toMatchObject({
        description: "Requests",
        sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ asDouble: 3 }] }
      })
      expect(metric("shop.queue").sum).toMatchObject({ isMonotonic: false, dataPoints: [{ asDouble: -1 }] })
      expect(points("shop.total")).toMatchObject([{ asInt: String(2n ** 60n) }])
      expect(metric("shop.load").unit).toBe("1")
      expect(points("shop.load").map((point: any) => [attributesOf(point.attributes), String(point.asDouble)])).toEqual(
        [
          [{ host: "a" }, "0.25"],
          [{ host: "b" }, "NaN"]
        ]
      )
      expect(metric("shop.time").unit).toBe("s")
      const [histogram] = points("shop.time")
      expect({
        ...histogram,
        count: Number(histogram.count),
        bucketCounts: histogram.bucketCounts.map(Number)
      }).toMatchObject({
        count: 1,
        sum: 1.5,
        min: 1.5,
        max: 1.5,
        bucketCounts: [0, 1, 0],
        explicitBounds: [1, 2]
      })
      expect(points("shop.size")).toMatchObject([{ sum: 7, quantileValues: [{ quantile: 0.5, value: 7 }] }])
      expect(attributesOf(points("shop.color")[0].attributes)).toEqual({ key: "red" })
      for (const name of ["process.cpu.time", "nodejs.eventloop.delay.p99", "v8js.memory.heap.used"]) {
        expect(points(name).length).toBeGreaterThan(0)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("come with the service's attributes and the headers, whose values are seen nowhere else", () =>
    Effect.gen(function* () {
      const { receiver } = yield* exported
      expect(new Set(receiver.received.map(({ signal }) => signal))).toEqual(new Set(["traces", "metrics", "logs"]))
      for (const { body, headers } of receiver.received) {
        expect(headers["x-api-key"]).toBe(secret)
        expect(headers["user-agent"]).toBe("OTel-OTLP-Exporter-layerhost/9.9.9")
        expect(JSON.stringify(body)).not.toContain(secret)
        const [resource] = body.resourceSpans ?? body.resourceMetrics ?? body.resourceLogs
        expect(attributesOf(resource.resource.attributes)).toMatchObject({
          "service.name": "shop",
          "service.instance.id": expect.stringMatching(/^[0-9a-f-]{36}$/),
          "deployment.environment.name": "test",
          a: "b c",
          "process.runtime.name": "nodejs"
        })
        const [scope] = resource.scopeSpans ?? resource.scopeMetrics ?? resource.scopeLogs
        expect(scope.scope).toEqual({ name: "layerhost", version: "9.9.9" })
      }
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    ["refuses", { _tag: "Status", status: 503 }],
    ["closes mid-body", { _tag: "CloseMidBody" }],
    ["asks to come again", { _tag: "Status", status: 429, retryAfter: "60" }],
    ["never answers", { _tag: "Never" }]
  ] as const)("to a collector that %s, nothing fails, memory is bounded, and the log says it once", ([, answer]) => {
    const { lines, provide } = capture()
    return Effect.gen(function* () {
      const receiver = yield* OtlpReceiver.start(protocol)
      receiver.answer = () => answer
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { tracer } = yield* start({ endpoint: receiver.url, protocol, shutdownTimeout: "0 seconds" })
          const text = "x".repeat(5_000)
          const requests = 2_000
          const work = Effect.withSpan(Effect.void, "work", { attributes: { text } })
          // Ten megabytes of spans, while the collector gets its requests and answers them as it does.
          for (let i = 0; i < requests; i++) {
            yield* handle(tracer!, work)
            if (i % 100 === 0) yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
          }
          yield* receiver.until(({ received }) => received.length > 0)
        })
      )
      const dropped = (yield* Metric.snapshot).flatMap((snapshot) =>
        snapshot.id === "layerhost.telemetry.dropped" &&
        snapshot.type === "Counter" &&
        snapshot.attributes?.["signal"] === "traces"
          ? [Number(snapshot.state.count)]
          : []
      )
      // Every span is accounted for: none arrived, so that all were dropped in the end, at the latest at shutdown.
      expect(dropped.reduce((sum, count) => sum + count, 0)).toBe(4_000)
      expect(lines.filter((line) => line.includes("again"))).toEqual([])
      expect(lines.length).toBeLessThanOrEqual(1)
    }).pipe(Effect.scoped, provide, Effect.provideContext(registry()))
  })
})

describe("Without an endpoint", () => {
  it.effect("nothing is traced, Effect's own metrics are kept, and outgoing requests carry no ids", () =>
    Effect.gen(function* () {
      const { log, services, tracer } = yield* start({})
      expect([log, tracer]).toEqual([undefined, undefined])
      const span = yield* Effect.currentSpan.pipe(Effect.withSpan("work"), Effect.provideContext(services))
      expect(span.traceId).toBe("noop")
      yield* Effect.forkChild(Effect.void).pipe(Effect.provideContext(services))
      const ids = new Set((yield* Metric.snapshot).map(({ id }) => id))
      expect(ids).toContain("child_fibers_started")
      expect(ids).toContain("process.memory.usage")
    }).pipe(Effect.scoped, Effect.provideContext(registry()))
  )

  it("nothing of the exporters is loaded", () => {
    const { status, stderr, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, "fixtures/loaded.ts")], {
      encoding: "utf8"
    })
    expect([status, stderr]).toEqual([0, ""])
    const loaded = JSON.parse(stdout) as {
      readonly without: ReadonlyArray<string>
      readonly withOne: ReadonlyArray<string>
    }
    const exporters = (urls: ReadonlyArray<string>) => urls.filter((url) => /\/Otlp\/|node:http2/.test(url))
    expect(exporters(loaded.without)).toEqual([])
    expect(exporters(loaded.withOne).length).toBeGreaterThan(10)
  })

  it.effect("what the metrics of the process were is no longer told when the host is gone", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(start({}))
      expect((yield* Metric.snapshot).filter(({ id }) => id.startsWith("process."))).toEqual([])
    }).pipe(Effect.provideContext(registry()))
  )
})

describe("telemetry:console", () => {
  const printed = (input: { readonly console: boolean }, terminal: boolean) =>
    Effect.gen(function* () {
      const texts: Array<string> = []
      const write = (text: string) => void texts.push(text)
      const { services, tracer } = yield* start(input, terminal ? { terminal: { write, colors: false } } : {})
      if (tracer === undefined) return texts
      const leaf = Effect.withSpan(Effect.void, "leaf\u001b[31m")
      const work = Effect.all([
        Effect.withSpan(leaf, "first"),
        Effect.ignore(Effect.withSpan(Effect.fail("no"), "second")),
        Effect.ignore(Effect.withSpan(Effect.interrupt, "third"))
      ]).pipe(Effect.catchCause(() => Effect.void))
      yield* handle(tracer, work).pipe(Effect.provideContext(services))
      yield* Effect.withSpan(Effect.void, "no request").pipe(Effect.provideContext(services))
      return texts
    }).pipe(Effect.scoped, Effect.provideContext(registry()))

  it.effect("shows the spans of a request as a tree", () =>
    Effect.gen(function* () {
      expect(yield* printed({ console: true }, true)).toEqual([
        "GET /items/{id} 200 2.5 ms\n" +
          "├─ first 0.0 ms\n" +
          "│  └─ leaf\\u001b[31m 0.0 ms\n" +
          "├─ second 0.0 ms ✗\n" +
          "└─ third 0.0 ms\n"
      ])
    })
  )

  it.effect("shows nothing where it is off, or where nobody reads", () =>
    Effect.gen(function* () {
      expect(yield* printed({ console: false }, true)).toEqual([])
      expect(yield* printed({ console: true }, false)).toEqual([])
    })
  )
})

describe("A log line", () => {
  it.effect("inside a span carries its ids", () => {
    let text = ""
    return Effect.gen(function* () {
      const { services, tracer } = yield* start({ console: true }, { terminal: { write: () => {}, colors: false } })
      const { span } = yield* handle(tracer!, Effect.logInfo("inside")).pipe(Effect.provideContext(services))
      yield* (yield* Logging.Logging).flush
      expect(JSON.parse(text)).toMatchObject({ message: "inside", TraceId: span.traceId, SpanId: span.spanId })
    }).pipe(
      Effect.scoped,
      Effect.provide(
        Logging.layer({
          levels: { minimumLevel: "Information", override: {} },
          format: "json",
          write: (lines) => (text += lines)
        })
      ),
      Effect.provideContext(registry())
    )
  })
})

it.effect("A failure of the service is told on its span, under the words of the log", () =>
  Effect.gen(function* () {
    const receiver = yield* OtlpReceiver.start("http/json")
    yield* Effect.scoped(
      Effect.gen(function* () {
        const { tracer } = yield* start({ endpoint: receiver.url, protocol: "http/json" })
        const cause = Cause.die(new TypeError("x is undefined"))
        yield* handle(tracer!, Effect.void, { response: { ...exchange.response, status: 500, cause } })
      })
    )
    const [span] = receiver.spans
    expect(span.status).toEqual({ code: 2, message: "x is undefined" })
    expect(attributesOf(span.attributes)["error.type"]).toBe("TypeError")
  }).pipe(Effect.scoped, Effect.provideContext(registry()))
)
