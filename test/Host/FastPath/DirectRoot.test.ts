import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ServerResponse } from "node:http"
import * as CompiledApi from "../../../src/Host/FastPath/CompiledApi.ts"
import * as HealthCheck from "../../../src/Plugins/HealthCheck.ts"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as PluginApi from "../../../src/Plugins/PluginApi.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import * as Connection from "../Http/support/connection.ts"

const Named = Schema.Struct({ name: Schema.NonEmptyString })

const api = HttpApi.make("direct").add(
  HttpApiGroup.make("direct").add(
    HttpApiEndpoint.get("get", "/things/:id", { params: { id: Schema.FiniteFromString }, success: Schema.Json }),
    HttpApiEndpoint.get("large", "/large", { success: Schema.Json }),
    HttpApiEndpoint.get("response", "/response/:kind", { params: { kind: Schema.String }, success: Schema.Json }),
    HttpApiEndpoint.get("without", "/without", { success: Schema.String.pipe(HttpApiSchema.status(204)) }),
    HttpApiEndpoint.get("unknown", "/unknown", { success: Schema.String.pipe(HttpApiSchema.status(600)) }),
    HttpApiEndpoint.get("own", "/own", { success: Schema.String }),
    HttpApiEndpoint.post("post", "/things", { payload: Named, success: Named })
  )
)

const responses: Record<string, HttpServerResponse.HttpServerResponse> = {
  stream: HttpServerResponse.stream(Stream.make(new TextEncoder().encode("a stream")), { contentType: "text/plain" }),
  empty: HttpServerResponse.empty(),
  cookie: HttpServerResponse.text("a cookie").pipe(HttpServerResponse.setCookieUnsafe("a", "b")),
  tagged: HttpServerResponse.text("tagged", { headers: { etag: '"a"' } }),
  broken: HttpServerResponse.text("broken", { headers: { "x-broken": "\n" } }),
  longer: HttpServerResponse.setHeader(HttpServerResponse.text("longer"), "content-length", "7"),
  early: HttpServerResponse.text("early", { status: 103 })
}

const handlers = HttpApiBuilder.group(api, "direct", (handlers) =>
  handlers
    .handle("get", ({ params, request }) =>
      Effect.sync(() => ({
        id: params.id,
        url: request.url,
        changed: request.modify({ url: "/changed" }).modify({ protocol: "https" }).url,
        original: request.originalUrl.replace(/:\d+/, ""),
        host: request.headers["host"] ?? null,
        from: String(request.remoteAddress),
        peer: String(request.peerAddress),
        protocol: request.protocol ?? null,
        cookies: request.cookies
      }))
    )
    .handle("large", () => Effect.succeed("large ".repeat(1_000)))
    .handle("response", ({ params }) =>
      params.kind === "none" ? (undefined as never) : Effect.succeed(responses[params.kind]! as never)
    )
    .handle("without", () => Effect.succeed("nothing"))
    .handle("unknown", () => Effect.succeed("unknown"))
    .handle("own", ({ request }) =>
      Effect.gen(function* () {
        yield* Effect.addFinalizer(() => Effect.log("released"))
        const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
        response.writeHead(200, { "content-length": "3" }).end("own")
        return "own"
      })
    )
    .handle("post", ({ payload }) => Effect.as(Effect.yieldNow, payload))
)

const routes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", "/raw", HttpServerResponse.text("raw"))
    yield* router.add("*", "/raw/any", HttpServerResponse.text("any"))
    yield* router.add("GET", "/raw/late", Effect.as(Effect.yieldNow, HttpServerResponse.text("late")))
    yield* router.add("GET", "/raw/stream", responses["stream"]!)
    yield* router.add(
      "GET",
      "/raw/hook",
      HttpEffect.withPreResponseHandler(Effect.succeed(HttpServerResponse.text("hook")), (_, response) =>
        Effect.succeed(HttpServerResponse.setHeader(response, "x-hook", "yes"))
      )
    )
    yield* router.add("GET", "/raw/die", Effect.die("secret"))
    yield* router.add(
      "GET",
      "/raw/release",
      Effect.as(
        Effect.addFinalizer(() => Effect.log("released")),
        HttpServerResponse.text("acquired")
      )
    )
    yield* router.add(
      "POST",
      "/raw",
      HttpServerRequest.HttpServerRequest.use((request) => Effect.map(request.text, HttpServerResponse.text))
    )
  })
)

const check = HealthCheck.make({ name: "direct", tags: ["direct"], check: Effect.succeed(HealthCheck.healthy()) })
const plugin = Plugin.make({ id: "direct", apis: [PluginApi.make(api, handlers)], routes, healthChecks: [check] })

const head = (line: string, ...headers: ReadonlyArray<string>) =>
  [line, "Host: here", "X-Request-Id: id", ...headers, "", ""].join("\r\n")
const get = (path: string, ...headers: ReadonlyArray<string>) => head(`GET ${path} HTTP/1.1`, ...headers)
const post = (path: string, body: string, ...headers: ReadonlyArray<string>) =>
  head(`POST ${path} HTTP/1.1`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers) + body
const chunked = (path: string, ...chunks: ReadonlyArray<string>) =>
  head(`POST ${path} HTTP/1.1`, "Transfer-Encoding: chunked") +
  [...chunks, ""].map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join("")

/** What a client sends over one connection; a list is sent piece by piece, each once the one before is written. */
const exchanges: Record<string, string | ReadonlyArray<string>> = {
  "an endpoint": get("/things/1"),
  "an endpoint, by another spelling": get("//Things/%31/?a=b#c"),
  "an endpoint that is given what it does not take": get("/things/x"),
  "HTTP/1.0": head("GET /things/1 HTTP/1.0"),
  "HTTP/1.0 without a host": "GET /things/1 HTTP/1.0\r\nX-Request-Id: id\r\n\r\n",
  "HTTP/1.1 without a host": "GET /things/1 HTTP/1.1\r\nX-Request-Id: id\r\n\r\n",
  "an absolute target": get("http://there/things/1"),
  "forwarded headers": get(
    "/things/1",
    "X-Forwarded-For: 192.0.2.1",
    "X-Forwarded-Host: there.test",
    "X-Forwarded-Proto: https"
  ),
  "a cookie": get("/things/1", "Cookie: a=b; c=d"),
  "a header that only answers have": get("/things/1", "Set-Cookie: a=b", "Set-Cookie: c=d"),
  "an origin": get("/things/1", "Origin: https://there.test"),
  "an origin that may not read": get("/things/1", "Origin: https://evil.test"),
  "a preflight": head("OPTIONS /things/1 HTTP/1.1", "Origin: https://there.test", "Access-Control-Request-Method: GET"),
  "a preflight where a route takes it": head(
    "OPTIONS /raw/any HTTP/1.1",
    "Origin: https://there.test",
    "Access-Control-Request-Method: GET"
  ),
  "no compression": get("/things/1", "Accept-Encoding: gzip, br"),
  "nothing but compression": get("/things/1", "Accept-Encoding: gzip, identity;q=0"),
  "a large answer": get("/large"),
  YAML: get("/things/1", "Accept: application/yaml"),
  "another type": get("/things/1", "Accept: text/html"),
  "a list of types": get("/things/1", "Accept: text/html, */*;q=0.1"),
  HEAD: head("HEAD /things/1 HTTP/1.1"),
  "HEAD where a route takes it": head("HEAD /raw/any HTTP/1.1"),
  "an expectation": head("POST /things HTTP/1.1", "Expect: 100-continue", "Content-Length: 14") + '{"name":"Ada"}',
  "another expectation": get("/things/1", "Expect: wonders"),
  "a body where none is taken": head("GET /things/1 HTTP/1.1", "Content-Length: 2") + "{}",
  "a condition": get("/response/tagged", 'If-None-Match: "a"'),
  "any condition": get("/things/1", "If-None-Match: *"),
  "a streamed answer": get("/response/stream"),
  "an empty answer": get("/response/empty"),
  "an answer with a cookie": get("/response/cookie"),
  "an answer that cannot be sent": get("/response/broken"),
  "an answer with another length than it says": get("/raw") + get("/response/longer"),
  "an answer that is none yet": get("/response/early"),
  "a status without a body": get("/without"),
  "a status that there is not": get("/unknown"),
  "a handler that answers by itself": get("/own"),
  "a body": post("/things", '{"name":"Ada"}'),
  "a body without a name": post("/things", "{}"),
  "a body that is not JSON": post("/things", "{"),
  "a body that is not UTF-8":
    head("POST /things HTTP/1.1", "Content-Length: 3", "Content-Type: application/json") + '"\\u',
  "an empty body": post("/things", ""),
  "no body where one is taken": head("POST /things HTTP/1.1"),
  "a body in YAML": post("/things", "name: Ada", "Content-Type: application/yaml"),
  "a body of another type": post("/things", "name=Ada", "Content-Type: text/plain"),
  "a body in a charset": post("/things", '{"name":"Ada"}', "Content-Type: application/json; charset=latin1"),
  "a body in chunks": chunked("/things", '{"name"', ':"Ada"}'),
  "a body in pieces": [head("POST /things HTTP/1.1", "Content-Length: 14"), '{"name":', '"Ada"}'],
  "a body that is too large": post("/things", `"${"a".repeat(1_100)}"`),
  "a body in chunks that is too large": chunked("/things", `"${"a".repeat(1_100)}"`),
  "requests one behind the other":
    get("/things/1") + get("/raw") + post("/things", '{"name":"Ada"}') + get("/things/2"),
  "a raw route": get("/raw"),
  "a raw route that answers later": get("/raw/late"),
  "a raw route that streams": get("/raw/stream"),
  "a raw route with a hook": get("/raw/hook"),
  "a raw route that dies": get("/raw/die"),
  "a raw route that releases what it acquired": get("/raw/release"),
  "a raw route with a body": post("/raw", "a text"),
  health: get("/health/direct"),
  "no route": get("/nowhere"),
  "no such method": head("DELETE /things/1 HTTP/1.1")
}

/** Sends the pieces over a connection, and gives all that comes back before the host closes it. */
const talk = Effect.fnUntraced(function* (url: string, pieces: ReadonlyArray<string>) {
  const connection = yield* Connection.open(url)
  for (const piece of pieces) yield* Effect.andThen(connection.send(piece), Effect.yieldNow)
  return yield* connection.closed
}, Effect.scoped)

/** What came back, with heads in the order of their lines, and without what tells the time and the trace. */
const comparable = (text: string): string =>
  text
    .replace(/^date: .*\r\n/gim, "")
    .replace(/"(timestamp|totalDuration|duration|traceId)":"[^"]*"/g, "$1")
    .replace(/(?<=HTTP\/1\.1 [^\r]*\r\n)[^]*?(?=\r\n\r\n)/g, (headers) => headers.split("\r\n").toSorted().join("\r\n"))

describe("the direct way of requests", () => {
  for (const { name, config } of [
    { name: "as it comes", config: {} },
    {
      name: "with a limit that is soon reached",
      config: { ipRateLimiting: { generalRules: [{ endpoint: "*", period: "1h", limit: 30 }] } }
    }
  ]) {
    it.effect(`answers over a socket as Effect's platform does, ${name}`, () =>
      Effect.gen(function* () {
        const make = TestHost.make([plugin], {
          listen: true,
          config: { host: { maxRequestSize: 1_000 }, CorsPolicy: { origins: ["https://there.test"] }, ...config }
        })
        const fast = yield* make
        const stock = yield* Effect.provideService(make, CompiledApi.IsEnabled, false)
        const last = head("GET /raw HTTP/1.1", "Connection: close")
        for (const [name, sent] of Object.entries(exchanges)) {
          const pieces = [...(typeof sent === "string" ? [sent] : sent), last]
          const expected = comparable(yield* talk(stock.url, pieces))
          assert.include(expected, "HTTP/1.1 ", name)
          assert.strictEqual(comparable(yield* talk(fast.url, pieces)), expected, name)
        }
        const told = (host: TestHost.Service) =>
          Effect.map(host.log.lines, (lines) =>
            lines
              .filter(({ level }) => level !== "Debug")
              .map(({ error, labels, level, message }) => ({ error, labels, level, message }))
          )
        const untimed = (lines: unknown) => JSON.stringify(lines).replace(/127\.0\.0\.1:\d+|"stackTrace":"[^"]*"/g, "")
        assert.strictEqual(untimed(yield* told(fast)), untimed(yield* told(stock)))
      })
    )
  }

  it.effect("answers, counts and tells a request whose handler gives nothing that runs", () =>
    Effect.gen(function* () {
      const host = yield* TestHost.make([plugin], { listen: true })
      const { headers, status } = yield* host.request("/response/none")
      assert.deepStrictEqual([status, headers.get("content-type")], [500, "application/problem+json"])
      assert.include(yield* host.log.messages("layerhost.host.request"), "GET /response/none 500")
      const active = (yield* host.metrics).find(({ id }) => id === "http.server.active_requests")
      assert.containsSubset(active, { state: { count: 0 } })
    })
  )

  it.effect("gives up a request whose client leaves in the midst of its body, as Effect's platform does", () =>
    Effect.gen(function* () {
      const make = TestHost.make([plugin], { listen: true })
      for (const host of [yield* make, yield* Effect.provideService(make, CompiledApi.IsEnabled, false)]) {
        const connection = yield* Connection.open(host.url)
        yield* connection.send(head("POST /things HTTP/1.1", "Content-Length: 14") + '{"name"')
        // One answer, over another connection, says that the first request has come.
        yield* host.request("/raw")
        connection.socket.destroy()
        let lines = yield* host.log.messages("layerhost.host.request")
        while (lines.length < 2) lines = yield* host.log.messages("layerhost.host.request")
        assert.deepStrictEqual(lines, ["GET /raw 200", "POST /things 499"])
        const { metrics } = host
        const active = (yield* metrics).find(({ id }) => id === "http.server.active_requests")
        assert.containsSubset(active, { state: { count: 0 } })
      }
    })
  )
})
