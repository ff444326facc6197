import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Encoding from "../../../src/Host/Telemetry/Otlp/Encoding.ts"
import * as Exporter from "../../../src/Host/Telemetry/Otlp/Exporter.ts"
import { maxBatchItems, maxBytes } from "../../../src/Host/Telemetry/Otlp/ExportQueue.ts"
import { ExportTrouble } from "../../../src/Host/Telemetry/Otlp/ExportTrouble.ts"
import { Nanos } from "../../../src/Host/Telemetry/Otlp/OtlpMessages.ts"
import { Attributes } from "../../../src/Host/Telemetry/Otlp/OtlpValue.ts"
import { SendError } from "../../../src/Host/Telemetry/Otlp/Transport.ts"
import { capture } from "./support/log.ts"

const encoding = Encoding.json({ resource: { attributes: new Attributes([]) }, scope: { name: "test" } })

const item = (severityText: string) => ({
  timeUnixNano: new Nanos(1n),
  observedTimeUnixNano: new Nanos(1n),
  severityNumber: 9,
  severityText,
  body: { stringValue: "" },
  attributes: new Attributes([])
})

const failure = (options: Partial<SendError> = {}) =>
  Effect.fail(new SendError({ message: "no", retryable: true, retryAfter: undefined, ...options }))

/** An exporter whose collector answers as told, and what that collector got. */
const start = Effect.fnUntraced(function* (
  answer: (attempt: number) => Effect.Effect<Uint8Array, SendError> = () => Effect.succeed(new Uint8Array())
) {
  const requests: Array<ReadonlyArray<string>> = []
  const scope = yield* Scope.make()
  const exporter = yield* Exporter.make({
    signal: "logs",
    encoding,
    send: (_signal, body) =>
      Effect.suspend(() => {
        const { resourceLogs } = JSON.parse(Buffer.from(body).toString())
        requests.push(resourceLogs[0].scopeLogs[0].logRecords.map((each: any) => each.severityText))
        return answer(requests.length)
      }),
    trouble: new ExportTrouble("http://collector"),
    timeout: Duration.seconds(10),
    shutdownTimeout: Duration.seconds(3)
  }).pipe(Scope.provide(scope))
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  return {
    add: (...texts: ReadonlyArray<string>) => texts.forEach((text) => exporter.add(() => item(text))),
    exporter,
    requests
  }
})

/** What was dropped, by reason. */
const dropped = Effect.map(Metric.snapshot, (snapshots) =>
  Object.fromEntries(
    snapshots.flatMap((snapshot) =>
      snapshot.id === "layerhost.telemetry.dropped" && snapshot.type === "Counter"
        ? [[snapshot.attributes?.["reason"], snapshot.state.count]]
        : []
    )
  )
)

const test = (name: string, effect: (log: ReadonlyArray<string>) => Effect.Effect<void, never, Scope.Scope>) =>
  it.effect(name, () => {
    const { lines, provide } = capture()
    return effect(lines).pipe(
      Effect.scoped,
      provide,
      Effect.provideContext(Context.make(Metric.MetricRegistry, new Map()))
    )
  })

const began = "Warn: Telemetry cannot be exported to http://collector: no"
const ended = "Info: Telemetry is exported to http://collector again"

describe("An exporter", () => {
  test("sends what came within a second in one request", () =>
    Effect.gen(function* () {
      const { add, requests } = yield* start()
      add("a", "b")
      yield* TestClock.adjust("999 millis")
      expect(requests).toEqual([])
      yield* TestClock.adjust("1 millis")
      expect(requests).toEqual([["a", "b"]])
      yield* TestClock.adjust("10 seconds")
      expect(requests.length).toBe(1)
    }))

  test("sends a full batch at once", () =>
    Effect.gen(function* () {
      const { add, requests } = yield* start()
      yield* TestClock.adjust(0)
      add(...Array.from({ length: maxBatchItems + 1 }, (_, i) => String(i)))
      yield* TestClock.adjust(0)
      expect(requests.map(({ length }) => length)).toEqual([maxBatchItems])
      yield* TestClock.adjust("1 second")
      expect(requests.map(({ length }) => length)).toEqual([maxBatchItems, 1])
    }))

  test("tries again what may succeed later, each time later, and says so once", (log) =>
    Effect.gen(function* () {
      const { add, requests } = yield* start((attempt) => (attempt <= 3 ? failure() : Effect.succeed(new Uint8Array())))
      add("a")
      yield* TestClock.adjust("1 second")
      expect(requests.length).toBe(1)
      // Waits of 1 s, 2 s and 4 s, each up to a half longer.
      yield* TestClock.adjust("900 millis")
      expect(requests.length).toBe(1)
      yield* TestClock.adjust("600 millis")
      expect(requests.length).toBe(2)
      expect(log).toEqual([began])
      yield* TestClock.adjust("9 seconds")
      expect(requests).toEqual([["a"], ["a"], ["a"], ["a"]])
      expect(log).toEqual([began, ended])
      expect(yield* dropped).toEqual({})
    }))

  test("waits as long as the collector asks", () =>
    Effect.gen(function* () {
      const { add, requests } = yield* start((attempt) =>
        attempt === 1 ? failure({ retryAfter: Duration.seconds(20) }) : Effect.succeed(new Uint8Array())
      )
      add("a")
      yield* TestClock.adjust("1 second")
      yield* TestClock.adjust("19 seconds")
      expect(requests.length).toBe(1)
      yield* TestClock.adjust("1 second")
      expect(requests.length).toBe(2)
    }))

  test("drops what is refused for good, and goes on with the next", (log) =>
    Effect.gen(function* () {
      const { add, requests } = yield* start((attempt) =>
        attempt === 1 ? failure({ retryable: false }) : Effect.succeed(new Uint8Array())
      )
      add("a", "b")
      yield* TestClock.adjust("1 second")
      add("c")
      yield* TestClock.adjust("3 seconds")
      expect(requests).toEqual([["a", "b"], ["c"]])
      expect(yield* dropped).toEqual({ refused: 2 })
      expect(log).toEqual([began, ended])
    }))

  test("gives up on what could not be delivered for a minute", (log) =>
    Effect.gen(function* () {
      let isAway = true
      const { add, requests } = yield* start(() => (isAway ? failure() : Effect.succeed(new Uint8Array())))
      add("a")
      yield* TestClock.adjust("3 minutes")
      expect(yield* dropped).toEqual({ expired: 1 })
      expect(requests.length).toBeLessThan(10)
      isAway = false
      add("b")
      yield* TestClock.adjust("1 minute")
      expect(requests.at(-1)).toEqual(["b"])
      expect(log).toEqual([began, ended])
    }))

  test("does not wait for an answer longer than it may take", (log) =>
    Effect.gen(function* () {
      const { add, requests } = yield* start((attempt) =>
        attempt === 1 ? Effect.never : Effect.succeed(new Uint8Array())
      )
      add("a")
      yield* TestClock.adjust("11 seconds")
      expect(log).toEqual(["Warn: Telemetry cannot be exported to http://collector: no answer within 10s"])
      yield* TestClock.adjust("2 seconds")
      expect(requests).toEqual([["a"], ["a"]])
    }))

  test("keeps a bounded number of bytes, and counts what it drops", () =>
    Effect.gen(function* () {
      const { add, requests } = yield* start(() => Effect.never)
      const text = "x".repeat(10_000)
      const count = Math.ceil(maxBytes / 10_000) + 200
      for (let i = 0; i < count; i++) add(text)
      yield* TestClock.adjust("1 second")
      const { queue_full } = yield* dropped
      // Each item is some more than its text, and the request that is on its way has left the queue.
      expect(queue_full).toBeGreaterThan(200)
      expect(queue_full).toBeLessThan(250)
      expect(requests.length).toBe(1)
      add("y".repeat(2_000_000))
      expect((yield* dropped)["queue_full"]).toBe(queue_full + 1)
    }))

  test("drops what cannot be told, and does not throw", () =>
    Effect.gen(function* () {
      const { add, exporter, requests } = yield* start()
      exporter.add(() => {
        throw new Error("unreadable")
      })
      add("a")
      yield* exporter.drain
      expect(requests).toEqual([["a"]])
      expect(yield* dropped).toEqual({ malformed: 1 })
    }))

  test("counts what a collector has rejected of a request that it took", (log) =>
    Effect.gen(function* () {
      const { add } = yield* start(() =>
        Effect.succeed(Buffer.from('{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"no"}}'))
      )
      add("a", "b", "c")
      yield* TestClock.adjust("1 second")
      expect(yield* dropped).toEqual({ rejected: 2 })
      expect(log).toEqual([])
    }))
})

describe("Draining an exporter", () => {
  test("sends what is left, and drops what comes afterwards", () =>
    Effect.gen(function* () {
      const { add, exporter, requests } = yield* start()
      add(...Array.from({ length: maxBatchItems * 2 + 1 }, (_, i) => String(i)))
      yield* exporter.drain
      expect(requests.map(({ length }) => length)).toEqual([maxBatchItems, maxBatchItems, 1])
      add("late")
      expect(yield* dropped).toEqual({ shutdown: 1 })
    }))

  test("gives up at the first failure, also while it waits to try again", () =>
    Effect.gen(function* () {
      const { add, exporter, requests } = yield* start(() => failure())
      add("a")
      yield* TestClock.adjust("1 second")
      add("b", "c")
      yield* exporter.drain
      expect(requests).toEqual([["a"], ["a"]])
      expect(yield* dropped).toEqual({ shutdown: 3 })
    }))

  test("takes no longer than it may", () =>
    Effect.gen(function* () {
      const { add, exporter } = yield* start(() => Effect.never)
      add("a", "b")
      const drain = yield* Effect.forkScoped(exporter.drain)
      yield* TestClock.adjust("2999 millis")
      expect(drain.pollUnsafe()).toBeUndefined()
      yield* TestClock.adjust("1 millis")
      expect(drain.pollUnsafe()).toEqual(Exit.void)
      expect(yield* dropped).toEqual({ shutdown: 2 })
    }))
})

describe("The word about trouble", () => {
  it.effect("is one line for all signals, when the first fails and when the last is well", () => {
    const { lines, provide } = capture()
    return Effect.gen(function* () {
      const trouble = new ExportTrouble("http://collector")
      yield* trouble.succeeded("traces")
      yield* trouble.failed("traces", "no")
      yield* trouble.failed("logs", "no")
      yield* trouble.failed("traces", "no")
      yield* trouble.succeeded("traces")
      yield* trouble.succeeded("metrics")
      expect(lines).toEqual([began])
      yield* trouble.succeeded("logs")
      yield* trouble.succeeded("logs")
      expect(lines).toEqual([began, ended])
    }).pipe(provide)
  })
})
