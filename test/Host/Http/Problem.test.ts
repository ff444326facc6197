import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { gzipSync } from "node:zlib"
import * as YAML from "yaml"
import * as TestHost from "../../../src/testing/TestHost.ts"
import * as Connection from "./support/connection.ts"
import { secret, things } from "./support/things.ts"

/** Requests that fail, each in its way, with the status of the answer. */
const failures: ReadonlyArray<[string, RequestInit, number]> = [
  ["/nowhere", {}, 404],
  ["/echo", {}, 405],
  ["/things/x", {}, 400],
  ["/raw/json", { method: "POST", body: "{" }, 400],
  ["/raw/json", { method: "POST", body: "x".repeat(101) }, 413],
  ["/echo", { method: "POST", headers: { "content-type": "application/xml" }, body: "<a/>" }, 415],
  ["/fail", {}, 500],
  ["/die", {}, 500],
  ["/throw", {}, 500],
  ["/redacted", {}, 500],
  ["/bad-answer", {}, 500],
  ["/interrupt", {}, 503],
  ["/empty/401", {}, 401],
  ["/empty/403", {}, 403],
  ["/empty/429", {}, 429],
  ["/empty/503", {}, 503]
]

const options = { config: { host: { maxRequestSize: 100 } } }
const traceId = "0af7651916cd43dd8448eb211c80319c"
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

describe("error answers", () => {
  it.effect.each(failures)("%s %j is a problem with status %i, in JSON and YAML", ([path, init, status]) =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things], options)
      yield* TestClock.setTime(Date.UTC(2031, 1, 2, 3, 4, 5, 6))
      const headers = { "x-request-id": "the-id", traceparent, ...init.headers }
      const json = yield* request(path, { ...init, headers })
      const yaml = yield* request(path, { ...init, headers: { ...headers, accept: "application/yaml" } })

      assert.strictEqual(json.status, status)
      assert.strictEqual(json.headers.get("content-type"), "application/problem+json")
      const problem = JSON.parse(json.text)
      assert.containsSubset(problem, {
        type: "about:blank",
        status,
        timestamp: "2031-02-02T03:04:05.006Z",
        requestId: "the-id",
        traceId
      })
      assert.isString(problem.title)
      if (status === 500) assert.hasAllKeys(problem, ["type", "title", "status", "timestamp", "requestId", "traceId"])

      assert.strictEqual(yaml.status, status)
      assert.strictEqual(yaml.headers.get("content-type"), "application/problem+yaml")
      assert.deepStrictEqual(YAML.parse(yaml.text), problem)

      for (const answer of [json, yaml]) {
        assert.strictEqual(answer.headers.get("x-request-id"), "the-id")
        assert.strictEqual(answer.headers.get("vary"), "Accept, Accept-Encoding")
        assert.notInclude(answer.text, secret)
      }
    })
  )

  it.effect.each<[string, string]>([
    ["/fail", secret],
    ["/die", secret],
    ["/throw", secret],
    ["/bad-answer", "Body"]
  ])("%s is logged with its cause under the id of the request", ([path, message]) =>
    Effect.gen(function* () {
      const { log, request } = yield* TestHost.make([things])
      yield* request(path, { headers: { "x-request-id": "the-id" } })
      const errors = (yield* log.lines).filter(({ level }) => level === "Error")
      assert.lengthOf(errors, 1)
      assert.strictEqual(errors[0]!.requestId, "the-id")
      assert.include(JSON.stringify(errors[0]), message)
    })
  )

  it.effect("keeps redacted values out of the log, too", () =>
    Effect.gen(function* () {
      const { log, request } = yield* TestHost.make([things])
      yield* request("/redacted")
      const lines = yield* log.lines
      assert.isTrue(lines.some(({ level }) => level === "Error"))
      assert.notInclude(JSON.stringify(lines), secret)
    })
  )

  it.effect("is no error in the log where the client is at fault", () =>
    Effect.gen(function* () {
      const { log, request } = yield* TestHost.make([things], options)
      for (const [path, init, status] of failures) {
        if (status < 500) yield* request(path, init)
      }
      yield* request("/conflict")
      const levels = new Set((yield* log.lines).map(({ level }) => level))
      assert.isFalse(levels.has("Error") || levels.has("Warning"), [...levels].join())
    })
  )

  it.effect("completes a problem of a handler with what it lacks", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const conflict = yield* request("/conflict", { headers: { "x-request-id": "the-id" } })
      assert.strictEqual(conflict.status, 409)
      assert.containsSubset(JSON.parse(conflict.text), {
        type: "https://example.com/conflict",
        title: "Conflict",
        status: 409,
        detail: "There is another.",
        timestamp: "1970-01-01T00:00:00.000Z",
        requestId: "the-id"
      })
      const own = yield* request("/own-problem", { headers: { traceparent } })
      assert.strictEqual(own.status, 418)
      assert.deepStrictEqual(JSON.parse(own.text), {
        type: "urn:x",
        title: "Mine",
        status: 418,
        requestId: "mine",
        traceId,
        timestamp: "1970-01-01T00:00:00.000Z"
      })
    })
  )

  it.effect("keeps headers and cookies of an error without a body", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const { headers } = yield* request("/empty/401")
      assert.strictEqual(headers.get("x-own"), "kept")
      assert.deepStrictEqual(headers.getSetCookie(), ["own=kept"])
    })
  )

  it.effect("leaves every other body of a handler alone", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const own = yield* request("/own-error", { headers: { accept: "application/yaml" } })
      assert.deepStrictEqual([own.status, own.text], [410, "mine"])
      const broken = yield* request("/bad-problem", { headers: { accept: "application/yaml" } })
      assert.deepStrictEqual([broken.status, broken.text], [400, "{"])
    })
  )

  it.effect("names the type that an endpoint does not take as the client sent it", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const { status, text } = yield* request("/text", {
        method: "POST",
        headers: { "content-type": "text/yaml" },
        body: "a: b"
      })
      assert.strictEqual(status, 415)
      assert.include(JSON.parse(text).detail, "text/yaml")
    })
  )
})

describe("refusals before a route is reached", () => {
  const gzipped = (body: Uint8Array<ArrayBuffer>): RequestInit => ({
    method: "POST",
    headers: { "content-encoding": "gzip" },
    body
  })

  it.effect.each<[number, string, RequestInit]>([
    [429, "/conflict", {}],
    [413, "/raw/text", gzipped(new Uint8Array(gzipSync("x".repeat(10_000))))],
    [413, "/raw/text", { method: "POST", body: "x".repeat(101) }],
    [400, "/raw/text", gzipped(new Uint8Array(50))],
    [415, "/raw/text", { method: "POST", headers: { "content-encoding": "compress" }, body: "x" }]
  ])("with %i are problems over the wire, in JSON and YAML: %s", ([status, path, init]) =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things], {
        listen: true,
        config: {
          host: { urls: "http://127.0.0.1:0", maxRequestSize: 100 },
          ipRateLimiting: {
            enableEndpointRateLimiting: true,
            generalRules: [{ endpoint: "*:/conflict", period: "1d", limit: 0 }]
          }
        }
      })
      for (const type of ["application/json", "application/yaml"]) {
        const headers = { accept: type, "x-request-id": "the-id", ...init.headers }
        const answer = yield* request(path, { ...init, headers })
        assert.strictEqual(answer.status, status)
        assert.strictEqual(answer.headers.get("content-type"), type.replace("/", "/problem+"))
        assert.containsSubset(YAML.parse(answer.text), { type: "about:blank", status, requestId: "the-id" })
      }
    })
  )

  it.effect("with 431 are that where one header is too many; what is far beyond is refused before it is read", () =>
    Effect.gen(function* () {
      const { url } = yield* TestHost.make([things], { listen: true })
      for (const type of ["application/json", "application/yaml"]) {
        const connection = yield* Connection.open(url)
        const headers = Array.from({ length: 98 }, (_, index) => `X-${index}: x\r\n`).join("")
        yield* connection.send(
          `GET /text HTTP/1.1\r\nHost: a\r\nX-Request-Id: the-id\r\nAccept: ${type}\r\n${headers}\r\n`
        )
        const answer = yield* connection.closed
        assert.match(answer, /^HTTP\/1\.1 431 /)
        assert.include(answer, type.replace("/", "/problem+"))
        assert.include(answer, "The request has too many headers.")
        assert.include(answer, "the-id")
      }
    })
  )
})
