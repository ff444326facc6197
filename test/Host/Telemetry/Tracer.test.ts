import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as EffectTracer from "effect/Tracer"
import * as ExcludedPaths from "../../../src/Host/Http/ExcludedPaths.ts"
import * as Sampler from "../../../src/Host/Telemetry/Sampler.ts"
import { maxCount, Span } from "../../../src/Host/Telemetry/Span.ts"
import { exchange, handle, recording } from "./support/spans.ts"

const traceId = "80f198ee56343ba864fe8b2a57d3eff7"
const spanId = "05e3ac9a4f6e3b90"

describe("The span of a request", () => {
  it.effect("has name, kind and attributes of the semantic conventions, and no query", () =>
    Effect.gen(function* () {
      const { spans, tracer } = recording()
      const headers = { host: "shop.example:8080", "user-agent": "curl/8" }
      const { span } = yield* handle(tracer, Effect.void, { request: { headers } })
      expect(spans).toEqual([span])
      expect([span.name, span.kind, span.parentSpanId]).toEqual(["GET /items/{id}", "server", undefined])
      expect(span.status).toMatchObject({ startTime: 1_000_000n, endTime: 3_500_000n, exit: Exit.void })
      expect(Object.fromEntries(span.attributes)).toEqual({
        "http.request.method": "GET",
        "url.path": "/items/7",
        "url.scheme": "https",
        "http.response.status_code": 200,
        "http.route": "/items/{id}",
        "client.address": "192.0.2.1",
        "server.address": "shop.example",
        "server.port": 8080,
        "user_agent.original": "curl/8",
        "http.request.id": "r1"
      })
    })
  )

  it.effect("is called by its method where no route matched, and an unknown method has no name of its own", () =>
    Effect.gen(function* () {
      const { tracer } = recording()
      const unrouted = yield* handle(tracer, Effect.void, { response: { route: undefined, status: 404 } })
      expect(unrouted.span.name).toBe("GET")
      const { span } = yield* handle(tracer, Effect.void, { request: { method: "BREW" } })
      expect(span.name).toBe("HTTP /items/{id}")
      expect(span.attributes.get("http.request.method")).toBe("_OTHER")
      expect(span.attributes.get("http.request.method_original")).toBe("BREW")
    })
  )

  it.effect("fails with the service, not with the client", () =>
    Effect.gen(function* () {
      const { tracer } = recording()
      const exitOf = ({ span }: { span: Span }) => (span.status._tag === "Ended" ? span.status.exit._tag : "open")
      expect(exitOf(yield* handle(tracer, Effect.void, { response: { status: 404 } }))).toBe("Success")
      const unavailable = yield* handle(tracer, Effect.void, { response: { status: 503 } })
      expect(exitOf(unavailable)).toBe("Failure")
      expect(unavailable.span.attributes.get("error.type")).toBe("503")
      const cause = Cause.die(new Error("boom"))
      const { span } = yield* handle(tracer, Effect.void, { response: { status: 500, cause } })
      expect(span.status).toMatchObject({ exit: Exit.failCause(cause) })
    })
  )

  it.each([
    ["[::1]:8080", "::1", 8080],
    ["example", "example", undefined],
    ["a:b:c", undefined, undefined],
    ["", undefined, undefined]
  ])("reads the host %j", (host, address, port) => {
    const { tracer } = recording()
    const request = { ...exchange.request, headers: { host } }
    const span = tracer.beginRequest(request, 0n)
    tracer.endRequest(span, request, exchange.response, 1n)
    expect(span.attributes.get("server.address")).toBe(address)
    expect(span.attributes.get("server.port")).toBe(port)
  })

  it.effect("continues the trace of its caller, and is the parent of what is done", () =>
    Effect.gen(function* () {
      const { spans, tracer } = recording()
      const headers = { b3: `${traceId}-${spanId}-1` }
      const work = Effect.void.pipe(Effect.withSpan("inner"), Effect.withSpan("outer"))
      const { span } = yield* handle(tracer, work, { request: { headers } })
      expect(span.parentSpanId).toBe(spanId)
      expect(spans.map(({ name }) => name)).toEqual(["inner", "outer", "GET /items/{id}"])
      expect(spans.map((each) => each.traceId)).toEqual([traceId, traceId, traceId])
      const [inner, outer] = spans
      expect([inner!.parentSpanId, outer!.parentSpanId]).toEqual([outer!.spanId, span.spanId])
      expect(spans.every((each) => each.localRoot === span)).toBe(true)
    })
  )

  it.effect("that is not sampled keeps nothing, nor does anything beneath it, but its ids go on", () =>
    Effect.gen(function* () {
      const { spans, tracer } = recording()
      const headers = { b3: `${traceId}-${spanId}-0` }
      const work = Effect.withSpan(Effect.currentSpan, "inner", { attributes: { a: 1 } })
      const { result, span } = yield* handle(tracer, work, { request: { headers } })
      expect(spans).toEqual([])
      expect([result.sampled, result.traceId, result.attributes.size, span.attributes.size]).toEqual([
        false,
        traceId,
        0,
        0
      ])
      // It needs no object of its own, and its end is nobody else's.
      expect(result).toBe(span)
      const forced = Effect.andThen(
        Effect.withSpan(Effect.void, "inner"),
        Effect.withSpan(Effect.void, "forced", { sampled: true })
      )
      const other = yield* handle(tracer, forced, { request: { headers } })
      expect(spans.map(({ name }) => name)).toEqual(["forced"])
      expect([spans[0]!.traceId, spans[0]!.parentSpanId]).toEqual([traceId, other.span.spanId])
    })
  )

  it.effect("of an excluded path is not recorded, whatever the caller has decided", () =>
    Effect.gen(function* () {
      const { spans, tracer } = recording({ isExcluded: ExcludedPaths.make(["/health/*", "/metrics"]) })
      for (const url of ["/health/liveness", "/metrics", "/metrics?x=1"]) {
        yield* handle(tracer, Effect.void, { request: { url, headers: { b3: "d" } } })
      }
      expect(spans).toEqual([])
      yield* handle(tracer, Effect.void, { request: { url: "/metrics/more" } })
      expect(spans.length).toBe(1)
    })
  )

  it.effect("follows the ratio only where nobody else has decided", () =>
    Effect.gen(function* () {
      const { spans, tracer } = recording({ sampleRatio: 0 })
      for (const b3 of ["0", `${traceId}-${spanId}`, "x"]) {
        yield* handle(tracer, Effect.void, { request: { headers: { b3 } } })
      }
      expect(spans.length).toBe(0)
      for (const b3 of ["1", "d", `${traceId}-${spanId}-1`]) {
        yield* handle(tracer, Effect.void, { request: { headers: { b3 } } })
      }
      expect(spans.length).toBe(3)
    })
  )
})

describe("A span without a request", () => {
  it.effect("is decided where its trace begins, and its children follow", () =>
    Effect.gen(function* () {
      const work = Effect.void.pipe(Effect.withSpan("inner"), Effect.withSpan("outer"))
      const all = recording({ sampleRatio: 1 })
      yield* Effect.withTracer(work, all.tracer.effectTracer)
      expect(all.spans.map(({ name }) => name)).toEqual(["inner", "outer"])
      const none = recording({ sampleRatio: 0 })
      yield* Effect.withTracer(work, none.tracer.effectTracer)
      expect(none.spans).toEqual([])
    })
  )

  it.effect("has ids that can be exported, whatever its parent calls itself", () =>
    Effect.gen(function* () {
      const { spans, tracer } = recording()
      const beneath = (ids: { traceId: string; spanId: string }) =>
        Effect.void.pipe(
          Effect.withSpan("work", { parent: EffectTracer.externalSpan(ids) }),
          Effect.withTracer(tracer.effectTracer)
        )
      yield* beneath({ traceId: "noop", spanId: "noop" })
      yield* beneath({ traceId: traceId.slice(16).toUpperCase(), spanId })
      const [stranger, padded] = spans
      expect(stranger!.traceId).toMatch(/^[0-9a-f]{32}$/)
      expect(stranger!.parentSpanId).toBeUndefined()
      expect([padded!.traceId, padded!.parentSpanId]).toEqual([`0000000000000000${traceId.slice(16)}`, spanId])
    })
  )

  it.effect("is bounded in attributes, events and links, and counts what it leaves out", () =>
    Effect.gen(function* () {
      const { spans, tracer } = recording()
      yield* Effect.gen(function* () {
        const span = yield* Effect.currentSpan
        for (let i = 0; i < maxCount + 5; i++) {
          span.attribute(`a${i}`, i)
          span.event(`e${i}`, 0n)
        }
        span.addLinks(Array.from({ length: maxCount + 5 }, () => ({ span, attributes: {} })))
        span.attribute("a0", "again")
      }).pipe(Effect.withSpan("full"), Effect.withTracer(tracer.effectTracer))
      const [span] = spans
      expect([span!.attributes.size, span!.events.length, span!.links.length]).toEqual([maxCount, maxCount, maxCount])
      expect([span!.droppedAttributes, span!.droppedEvents, span!.droppedLinks]).toEqual([5, 5, 5])
      expect(span!.attributes.get("a0")).toBe("again")
    })
  )
})

describe("The sampler", () => {
  it("decides a trace by its id, alike in every process", () => {
    const sample = Sampler.make(0.25)
    expect(sample("0".repeat(19) + "3ffffffffffff")).toBe(true)
    expect(sample("f".repeat(19) + "3ffffffffffff")).toBe(true)
    expect(sample("0".repeat(19) + "4000000000000")).toBe(false)
  })

  it("takes about the share that it is told", () => {
    const sample = Sampler.make(0.5)
    const taken = Array.from({ length: 10_000 }, () => sample(undefined)).filter(Boolean).length
    // Ten standard deviations on either side.
    expect(taken).toBeGreaterThan(4500)
    expect(taken).toBeLessThan(5500)
    expect(Sampler.make(1)(undefined)).toBe(true)
    expect(Sampler.make(0)(undefined)).toBe(false)
  })
})
