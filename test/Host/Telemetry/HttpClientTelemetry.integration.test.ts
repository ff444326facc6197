import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as HttpClient from "effect/http/HttpClient"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import * as HttpClientTelemetry from "../../../src/Host/Telemetry/HttpClientTelemetry.ts"
import type { Span } from "../../../src/Host/Telemetry/Span.ts"
import { handle, recording } from "./support/spans.ts"

const client = HttpClientTelemetry.layer(NodeHttpClient.layerUndici)

/** A server on a loopback port that answers as told, until the scope closes. */
const serve = (listener: http.RequestListener) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<http.Server>((resume) => {
        const server = http.createServer(listener)
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    ),
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  )

const registry = () => Context.make(Metric.MetricRegistry, new Map())

/** The label sets of the client's durations with their counts. */
const durations = Effect.map(Metric.snapshot, (snapshots) =>
  snapshots.flatMap((snapshot) =>
    snapshot.id === "http.client.request.duration" && snapshot.type === "Histogram"
      ? [[snapshot.attributes, snapshot.state.count] as const]
      : []
  )
)

describe("The client", () => {
  it.effect("tells the trace in every form, and its span is Effect's own", () =>
    Effect.gen(function* () {
      let headers: http.IncomingHttpHeaders = {}
      const url = yield* serve((request, response) => {
        headers = request.headers
        response.writeHead(404).end()
      })
      const { spans, tracer } = recording()
      const { span } = yield* handle(tracer, HttpClient.get(`${url}/x?q=1`))
      const [sent] = spans
      expect([sent!.name, sent!.kind, sent!.parentSpanId]).toEqual(["GET", "client", span.spanId])
      expect(sent!.attributes.get("http.response.status_code")).toBe(404)
      expect(sent!.attributes.get("error.type")).toBe("404")
      expect(headers).toMatchObject({
        traceparent: `00-${span.traceId}-${sent!.spanId}-01`,
        b3: `${span.traceId}-${sent!.spanId}-1-${span.spanId}`,
        "x-b3-traceid": span.traceId,
        "x-b3-spanid": sent!.spanId,
        "x-b3-parentspanid": span.spanId,
        "x-b3-sampled": "1"
      })
      expect(spans.length).toBe(2)
    }).pipe(Effect.provide(client), Effect.scoped)
  )

  it.effect("says nothing where it is told not to", () =>
    Effect.gen(function* () {
      const seen: Array<http.IncomingHttpHeaders> = []
      const url = yield* serve((request, response) => {
        seen.push(request.headers)
        response.end()
      })
      const { tracer } = recording()
      yield* handle(tracer, Effect.provideService(HttpClient.get(url), HttpClient.TracerPropagationEnabled, false))
      yield* handle(tracer, Effect.provideService(HttpClient.get(url), HttpClient.TracerDisabledWhen, constTrue))
      yield* HttpClient.get(url).pipe(Effect.withTracerEnabled(false))
      expect(seen.length).toBe(3)
      for (const headers of seen) {
        expect(Object.keys(headers).filter((name) => /b3|trace/.test(name))).toEqual([])
      }
    }).pipe(Effect.provide(client), Effect.scoped)
  )

  it.effect("counts every request by method, server and outcome", () =>
    Effect.gen(function* () {
      const url = yield* serve((request, response) => {
        if (request.url === "/broken") request.socket.destroy()
        else response.writeHead(request.url === "/missing" ? 404 : 200).end()
      })
      yield* HttpClient.get(`${url}/a`)
      yield* HttpClient.get(`${url}/b`)
      yield* HttpClient.post(`${url}/missing`)
      yield* Effect.flip(HttpClient.get(`${url}/broken`))
      const server = { "server.address": "127.0.0.1", "server.port": new URL(url).port, unit: "s" }
      expect(yield* durations).toEqual([
        [{ ...server, "http.request.method": "GET", "http.response.status_code": "200" }, 2],
        [{ ...server, "http.request.method": "POST", "http.response.status_code": "404", "error.type": "404" }, 1],
        [{ ...server, "http.request.method": "GET", "error.type": "TransportError" }, 1]
      ])
    }).pipe(Effect.provide(client), Effect.provideContext(registry()), Effect.scoped)
  )

  it.effect("gives series of their own to a bounded number of servers", () =>
    Effect.gen(function* () {
      const url = yield* serve((_request, response) => response.end())
      const inner = yield* HttpClient.HttpClient
      // Whatever the name, the request goes to the one server.
      const redirecting = HttpClientTelemetry.make(HttpClient.make(() => inner.get(url)))
      for (let i = 0; i < HttpClientTelemetry.maxServers + 20; i++) yield* redirecting.get(`http://host-${i}.test/`)
      const counts = yield* durations
      expect(counts.filter(([attributes]) => attributes?.["server.address"]?.startsWith("host-")).length).toBe(
        HttpClientTelemetry.maxServers
      )
      expect(counts.find(([attributes]) => attributes?.["server.address"] === "_OTHER")?.[1]).toBe(20)
    }).pipe(Effect.provide(NodeHttpClient.layerUndici), Effect.provideContext(registry()), Effect.scoped)
  )

  it.effect("ends a request whose scope closes while the answer is read", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const url = yield* serve((_request, response) => {
        response.write("first")
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
      })
      const scoped = HttpClient.withScope(yield* HttpClient.HttpClient)
      yield* Effect.scoped(Effect.flatMap(scoped.get(url), (response) => Stream.runHead(response.stream)))
      yield* Deferred.await(closed)
    }).pipe(Effect.provide(client), Effect.scoped)
  )

  it.effect("ends a request whose caller is interrupted", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const arrived = yield* Deferred.make<void>()
      const url = yield* serve((_request, response) => {
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
        Deferred.doneUnsafe(arrived, Effect.void)
      })
      yield* Effect.raceFirst(HttpClient.get(url), Deferred.await(arrived))
      yield* Deferred.await(closed)
      expect((yield* durations).map(([attributes]) => attributes?.["error.type"])).toEqual(["Interrupt"])
    }).pipe(Effect.provide(client), Effect.provideContext(registry()), Effect.scoped)
  )
})

describe("A chain of two services", () => {
  it.effect.each(["traceparent", "b3", "x-b3-"])("is one trace, told by %s alone", (form) =>
    Effect.gen(function* () {
      const first = recording()
      const second = recording()
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      const url = yield* serve((request, response) => {
        const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => name.startsWith(form)))
        const work = Effect.withSpan(Effect.void, "work")
        void run(handle(second.tracer, work, { request: { headers: headers as Record<string, string> } })).then(() =>
          response.end()
        )
      })
      const { span: front } = yield* handle(first.tracer, HttpClient.get(url))
      const [outgoing] = first.spans
      const [work, incoming] = second.spans
      expect(incoming!.kind).toBe("server")
      const chain = [front, outgoing!, incoming!, work!]
      expect(chain.map(({ traceId }) => traceId)).toEqual(chain.map(() => front.traceId))
      expect(chain.map((each: Span) => each.parentSpanId)).toEqual([
        undefined,
        ...chain.slice(0, -1).map(({ spanId }) => spanId)
      ])
    }).pipe(Effect.provide(client), Effect.scoped)
  )
})
