import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Arbitrary from "effect/Arbitrary"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Cors from "../../../src/Host/Cors/Cors.ts"
import * as ResponseHeaders from "../../../src/Host/Http/ResponseHeaders.ts"
import type { CorsPolicy } from "../../../src/Host/Cors/CorsPolicy.ts"
import * as Browser from "./Browser.ts"

type Policy = CorsPolicy["Service"]

const open: Policy = { origins: ["*"], methods: ["*"], headers: ["*"], exposedHeaders: ["*"], allowCredentials: false }

const shop = "https://shop.example"

const narrow: Policy = {
  origins: [shop],
  methods: ["GET", "put"],
  headers: ["X-Tenant", "Content-Type"],
  exposedHeaders: ["ETag", "X-Request-Id"],
  allowCredentials: false,
  maxAge: Duration.minutes(10)
}

const preflightOf = (policy: Policy, headers: Readonly<Record<string, string>>, method = "OPTIONS") => {
  const response = Cors.make(policy).preflight(Browser.request(method, headers))
  return response === undefined
    ? undefined
    : { status: response.status, headers: { ...response.headers } as Record<string, string> }
}

const shared = (
  policy: Policy,
  origin: string | undefined,
  response = HttpServerResponse.empty({ headers: { etag: '"1"', "x-other": "1" } })
) => {
  const headers = origin === undefined ? undefined : { origin }
  const shared = ResponseHeaders.of(response)
  Cors.make(policy).share(shared, Browser.request("GET", { ...headers }))
  return shared
}

const asked = { "access-control-request-method": "PUT", "access-control-request-headers": "authorization,x-tenant" }
const preflightVary = "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"

describe("a preflight", () => {
  it("is told everything by the default policy", () => {
    assert.deepStrictEqual(preflightOf(open, { origin: shop, ...asked }), {
      status: 204,
      headers: {
        vary: preflightVary,
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "PUT",
        "access-control-allow-headers": "authorization, x-tenant"
      }
    })
  })

  it("is told the lists of a policy that has some", () => {
    assert.deepStrictEqual(preflightOf(narrow, { origin: shop, ...asked }), {
      status: 204,
      headers: {
        vary: preflightVary,
        "access-control-allow-origin": shop,
        "access-control-allow-methods": "GET, PUT",
        "access-control-allow-headers": "X-Tenant, Content-Type",
        "access-control-max-age": "600"
      }
    })
  })

  it("of a refused origin is told nothing", () => {
    assert.deepStrictEqual(preflightOf(narrow, { origin: "https://evil.example", ...asked }), {
      status: 204,
      headers: { vary: preflightVary }
    })
  })

  it("sends back names only", () => {
    const headers = {
      "access-control-request-headers": "a b, x-ok, é, <script>,,",
      "access-control-request-method": "<p>"
    }
    const answer = preflightOf(open, { origin: shop, ...headers })
    assert.strictEqual(answer?.headers["access-control-allow-headers"], "x-ok")
    assert.notProperty(answer?.headers, "access-control-allow-methods")
  })

  it.each([
    ["a plain OPTIONS", "OPTIONS", {}],
    ["an OPTIONS of another origin", "OPTIONS", { origin: shop }],
    ["an OPTIONS without an origin", "OPTIONS", asked],
    ["another method", "GET", { origin: shop, ...asked }]
  ])("is not %s", (_title, method, headers) => {
    assert.isUndefined(preflightOf(open, headers, method))
  })
})

describe("an answer", () => {
  it.each<[string, Policy, string | undefined, Record<string, string>]>([
    ["any origin", open, shop, { "access-control-allow-origin": "*", "access-control-expose-headers": "*" }],
    // Else a cache would keep an answer that no script may read.
    ["no origin", open, undefined, { "access-control-allow-origin": "*", "access-control-expose-headers": "*" }],
    ["the origin null", open, "null", { "access-control-allow-origin": "*", "access-control-expose-headers": "*" }],
    [
      "a listed origin",
      narrow,
      shop,
      { "access-control-allow-origin": shop, "access-control-expose-headers": "ETag, X-Request-Id", vary: "Origin" }
    ],
    ["a refused origin", narrow, "https://evil.example", { vary: "Origin" }],
    ["an origin in another scheme", narrow, "http://shop.example", { vary: "Origin" }],
    ["an origin at another port", narrow, "https://shop.example:8443", { vary: "Origin" }],
    ["an origin that begins like a listed one", narrow, "https://shop.example.evil.example", { vary: "Origin" }],
    ["the origin null, not listed", narrow, "null", { vary: "Origin" }],
    ["no origin, by a list", narrow, undefined, { vary: "Origin" }],
    ["any origin, with nothing exposed", { ...open, exposedHeaders: [] }, shop, { "access-control-allow-origin": "*" }],
    [
      "a listed origin with credentials",
      { ...open, origins: [shop], allowCredentials: true },
      shop,
      {
        "access-control-allow-origin": shop,
        "access-control-allow-credentials": "true",
        "access-control-expose-headers": "etag, x-other",
        vary: "Origin"
      }
    ],
    [
      "a refused origin with credentials",
      { ...narrow, allowCredentials: true },
      "https://evil.example",
      { vary: "Origin" }
    ]
  ])("to %s has the headers that it needs", (_title, policy, origin, expected) => {
    const { etag, "x-other": other, ...headers } = shared(policy, origin)
    assert.deepStrictEqual({ etag, other, headers }, { etag: '"1"', other: "1", headers: expected })
  })

  it.each([
    ["Accept", "Accept, Origin"],
    ["accept, ORIGIN", "accept, ORIGIN"],
    ["*", "*"],
    ["", "Origin"]
  ])("with Vary: %s varies by %s", (vary, expected) => {
    assert.strictEqual(shared(narrow, shop, HttpServerResponse.empty({ headers: { vary } }))["vary"], expected)
  })
})

describe("the origins of a policy", () => {
  it.each([
    ["https://shop.example", "https://shop.example", true],
    ["HTTPS://Shop.Example:443", "https://shop.example", true],
    ["http://shop.example:8080", "http://shop.example:8080", true],
    ["http://shop.example:8080", "http://shop.example", false],
    ["https://münchen.example", "https://xn--mnchen-3ya.example", true],
    ["http://[2001:DB8::1]:80", "http://[2001:db8::1]", true],
    ["capacitor://localhost", "capacitor://localhost", true],
    ["chrome-extension://abcdef", "chrome-extension://abcdef", true],
    ["https://*.shop.example", "https://a.shop.example", true],
    ["https://*.shop.example", "https://a.b.shop.example", true],
    ["https://*.shop.example", "https://shop.example", false],
    ["https://*.shop.example", "https://.shop.example", false],
    ["https://*.shop.example", "https://ashop.example", false],
    ["https://*.shop.example", "http://a.shop.example", false],
    ["https://*.shop.example", "https://a.shop.example:8443", false],
    ["https://*.shop.example", "https://evil.example/.shop.example", false],
    ["https://*.shop.example", "https://evil.example#.shop.example", false],
    ["https://*.shop.example", "https://user@a.shop.example", false],
    ["https://*.shop.example:8443", "https://a.shop.example:8443", true],
    ["HTTP://*.Shop.Example:80", "http://a.shop.example", true]
  ])("%s allows %s: %s", (pattern, origin, expected) => {
    assert.strictEqual("access-control-allow-origin" in shared({ ...open, origins: [pattern] }, origin), expected)
  })
})

describe("a browser", () => {
  const origins = [shop, "https://a.shop.example", "https://evil.example", "null"]
  const methods = ["GET", "HEAD", "POST", "put", "DELETE", "PATCH", "PURGE"]
  const headers = ["Authorization", "X-Tenant", "content-type", "x-other"]
  const listOf = (names: ReadonlyArray<string>) => Schema.Array(Schema.Literals(names)).check(Schema.isMaxLength(3))
  const anyOr = (names: ReadonlyArray<string>) => Schema.Union([Schema.Tuple([Schema.Literal("*")]), listOf(names)])
  const policies = Arbitrary.filter(
    Arbitrary.schema(
      Schema.Struct({
        origins: anyOr([shop, "https://*.shop.example"]),
        methods: anyOr(["get", "PUT", "PATCH", "purge"]),
        headers: anyOr(headers),
        exposedHeaders: anyOr(["etag", "X-Other"]),
        allowCredentials: Schema.Boolean
      })
    ),
    (policy) => !(policy.allowCredentials && policy.origins[0] === "*")
  )
  const scripts = Schema.Struct({
    origin: Schema.Literals(origins),
    method: Schema.Literals(methods),
    headers: listOf(headers),
    credentials: Schema.Boolean
  })

  const has = (list: ReadonlyArray<string>, name: string) =>
    list[0] === "*" || list.some((each) => each.toLowerCase() === name.toLowerCase())

  const allowsOrigin = (list: ReadonlyArray<string>, origin: string) =>
    list.some((each) => each === "*" || each === origin || (each.includes("*") && origin === "https://a.shop.example"))

  it.prop("does what the policy says, and nothing else", [policies, scripts], ([policy, script]) => {
    const answer = HttpServerResponse.empty({ headers: { etag: '"1"', "x-other": "1", "cache-control": "no-store" } })
    const outcome = Browser.send(Cors.make(policy), script, answer)
    const isSafelisted = /^(?:GET|HEAD|POST)$/.test(script.method)
    const expected =
      allowsOrigin(policy.origins, script.origin) &&
      (!script.credentials || policy.allowCredentials) &&
      (isSafelisted || has(policy.methods, script.method)) &&
      script.headers.every((name) => has(policy.headers, name))
    assert.strictEqual(outcome._tag, expected ? "Read" : "NetworkError")
    if (outcome._tag === "Read") {
      for (const name of ["etag", "x-other"]) {
        assert.strictEqual(outcome.headers.includes(name), has(policy.exposedHeaders, name), name)
      }
    }
  })
})

describe("over a socket", () => {
  it.effect("routes see plain OPTIONS and no preflight, and errors are shared", () =>
    Effect.gen(function* () {
      const cors = Cors.make(narrow)
      const server = createServer()
      const http = yield* NodeHttpServer.make(() => server, { port: 0, host: "127.0.0.1" })
      yield* http.serve(
        HttpServerRequest.HttpServerRequest.use((request) => {
          const preflight = cors.preflight(request)
          if (preflight !== undefined) return Effect.succeed(preflight)
          const headers: ResponseHeaders.ResponseHeaders = {}
          cors.share(headers, request)
          return Effect.succeed(HttpServerResponse.text(request.method, { status: 418, headers }))
        })
      )
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const answerOf = (init: RequestInit) =>
        Effect.promise(async () => {
          const response = await fetch(url, init)
          return [response.status, await response.text(), response.headers.get("access-control-allow-origin")]
        })
      const preflight = { origin: shop, "access-control-request-method": "PUT" }
      assert.deepStrictEqual(yield* answerOf({ method: "OPTIONS", headers: preflight }), [204, "", shop])
      assert.deepStrictEqual(yield* answerOf({ method: "OPTIONS" }), [418, "OPTIONS", null])
      assert.deepStrictEqual(yield* answerOf({ headers: { origin: shop } }), [418, "GET", shop])
    })
  )
})
