import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Host from "../../../src/Host/Host.ts"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as OtlpReceiver from "../../support/otlp/OtlpReceiver.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import * as TestLog from "../../../src/testing/TestLog.ts"

/** `GET /items/:id` does its work in a span; `GET /front?at=<url>` asks another host; `GET /broken/:id` fails. */
const shop = Plugin.make({
  id: "shop",
  routes: Layer.mergeAll(
    HttpRouter.add(
      "GET",
      "/items/:id",
      Effect.logInfo("Looking").pipe(Effect.withSpan("ItemStore.find"), Effect.as(HttpServerResponse.text("item")))
    ),
    HttpRouter.add(
      "GET",
      "/front",
      Effect.gen(function* () {
        const { url } = yield* HttpServerRequest.HttpServerRequest
        const answer = yield* HttpClient.get(new URL(url, "http://host").searchParams.get("at")!)
        return HttpServerResponse.text(yield* answer.text)
      })
    ),
    HttpRouter.add("GET", "/broken/:id", Effect.die(new TypeError("it broke")))
  )
})

const telemetry = (receiver: OtlpReceiver.OtlpReceiver, name: string) => ({
  telemetry: { name, endpoint: receiver.url, protocol: "http/json" }
})

describe("A host", () => {
  it.effect("tells one request in a trace, in the log with its ids, and in metrics", () =>
    Effect.gen(function* () {
      const receiver = yield* OtlpReceiver.start("http/json")
      const log = TestLog.make()
      const scraped = yield* Effect.scoped(
        Effect.gen(function* () {
          const { request } = yield* TestHost.make([shop], { listen: true, log, config: telemetry(receiver, "shop") })
          yield* request("/items/7?secret=canary")
          yield* request("/health/liveness")
          return (yield* request("/metrics")).text
        })
      )
      const [find, server] = receiver.spans
      expect(receiver.spans.length).toBe(2)
      expect([server.name, server.kind, find.name]).toEqual(["GET /items/{id}", 2, "ItemStore.find"])
      expect(find.parentSpanId).toBe(server.spanId)
      expect(JSON.stringify(receiver.received.map(({ body }) => body))).not.toContain("canary")
      const looking = receiver.logs.find(({ body }) => body.stringValue === "Looking")
      expect([looking.traceId, looking.spanId]).toEqual([find.traceId, find.spanId])
      const answered = receiver.logs.find(({ body }) => body.stringValue === "GET /items/7 200")
      expect([answered.traceId, answered.spanId]).toEqual([server.traceId, server.spanId])
      expect(scraped).toMatch(
        /http_server_request_duration_seconds_count\{[^}]*http_route="\/items\/\{id\}"[^}]*\} \d+/
      )
      expect(scraped).toContain('service_name="shop"')
    }).pipe(Effect.scoped)
  )

  it.effect("gives the trace of a failed request to its client, and tells the failure on its span", () =>
    Effect.gen(function* () {
      const receiver = yield* OtlpReceiver.start("http/json")
      const answer = yield* Effect.scoped(
        Effect.gen(function* () {
          const { request } = yield* TestHost.make([shop], { listen: true, config: telemetry(receiver, "shop") })
          return yield* request("/broken/1")
        })
      )
      const [span] = receiver.spans
      expect(answer.status).toBe(500)
      expect(JSON.parse(answer.text)["traceId"]).toBe(span.traceId)
      expect(span.status).toEqual({ code: 2, message: "it broke" })
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    [{ logs: false }, ["metrics", "traces"]],
    [{ traces: false, metrics: false }, ["logs"]],
    [{ metrics: false }, ["logs", "traces"]],
    [{ traces: false, metrics: false, logs: false }, []]
  ])("exports no other signals than it is told to: %j", ([switches, signals]) =>
    Effect.gen(function* () {
      const receiver = yield* OtlpReceiver.start("http/json")
      const config = { telemetry: { ...telemetry(receiver, "shop").telemetry, ...switches } }
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { request } = yield* TestHost.make([shop], { config })
          yield* request("/items/7")
          expect((yield* request("/metrics")).text).toContain("http_server_request_duration_seconds_count")
        })
      )
      expect([...new Set(receiver.received.map(({ signal }) => signal))].toSorted()).toEqual(signals)
    }).pipe(Effect.scoped)
  )

  it.effect("without telemetry tells no trace", () =>
    Effect.gen(function* () {
      const host = yield* Host.build([shop], { configuration: {}, log: () => {} })
      const response = yield* Effect.promise(() => host.fetch(new Request("http://test/broken/1")))
      expect(yield* Effect.promise(() => response.json())).not.toHaveProperty("traceId")
    }).pipe(Effect.scoped)
  )

  it.effect("continues the trace of the host that asks it", () =>
    Effect.gen(function* () {
      const receiver = yield* OtlpReceiver.start("http/json")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const back = yield* TestHost.make([shop], { listen: true, config: telemetry(receiver, "back") })
          const front = yield* TestHost.make([shop], { listen: true, config: telemetry(receiver, "front") })
          const { text } = yield* front.request(`/front?at=${encodeURIComponent(`${back.url}/items/1`)}`)
          expect(text).toBe("item")
        })
      )
      const span = (name: string) => receiver.spans.find((each) => each.name === name)
      const chain = [span("GET /front"), span("GET"), span("GET /items/{id}"), span("ItemStore.find")]
      expect(chain.map(({ kind }) => kind)).toEqual([2, 3, 2, 1])
      expect(new Set(chain.map(({ traceId }) => traceId)).size).toBe(1)
      expect(chain.slice(1).map(({ parentSpanId }) => parentSpanId)).toEqual(
        chain.slice(0, -1).map(({ spanId }) => spanId)
      )
    }).pipe(Effect.scoped)
  )
})
