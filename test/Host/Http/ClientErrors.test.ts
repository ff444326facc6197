import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as YAML from "yaml"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import * as Connection from "./support/connection.ts"
import { things } from "./support/things.ts"

/** Limits that tests need not wait for long. */
const quick = { headersTimeout: "200 millis", requestTimeout: "200 millis" }

const make = (host: Record<string, string | number> = {}) =>
  TestHost.make([things], { listen: true, config: { host: { urls: "http://127.0.0.1:0", ...host } } })

/** Status, headers and body of the last answer on a connection. */
const lastAnswer = (received: string) => {
  const [head, body] = received.slice(received.lastIndexOf("HTTP/1.1 ")).split("\r\n\r\n", 2) as [string, string]
  const [statusLine, ...lines] = head.split("\r\n")
  const headers = new Headers(lines.map((line) => line.split(": ", 2) as [string, string]))
  return { status: Number(statusLine!.split(" ")[1]), headers, problem: YAML.parse(body), length: body.length }
}

describe("a request that is none", () => {
  it.effect.each<[string, string, number, string]>([
    ["no HTTP", "hello\r\n\r\n", 400, "The request is not valid HTTP."],
    [
      "a header without a colon",
      "GET / HTTP/1.1\r\nHost: a\r\nnonsense\r\n\r\n",
      400,
      "The request is not valid HTTP."
    ],
    [
      "two lengths",
      "POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
      400,
      "The request is not valid HTTP."
    ],
    [
      "large headers",
      `GET / HTTP/1.1\r\nHost: a\r\nX-A: ${"a".repeat(100_000)}\r\n\r\n`,
      431,
      "The headers of the request are too large."
    ],
    ["headers that never end", "GET / HTTP/1.1\r\nHost: a\r\nX-A", 408, "The request did not come in time."]
  ])("is answered with a problem, and told: %s", ([_title, sent, status, detail]) =>
    Effect.gen(function* () {
      const { log, metrics, url } = yield* make(quick)
      const connection = yield* Connection.open(url)
      connection.socket.on("error", () => {})
      yield* connection.send(sent)
      const answer = lastAnswer(yield* connection.closed)
      assert.strictEqual(answer.status, status)
      assert.strictEqual(answer.headers.get("content-type"), "application/problem+json")
      assert.strictEqual(answer.headers.get("connection"), "close")
      assert.strictEqual(answer.headers.get("content-length"), String(answer.length))
      assert.containsSubset(answer.problem, { type: "about:blank", status, detail })
      const line = yield* log.waitFor(`Refused a request ${status}`)
      assert.containsSubset(line, { level: "Information", namespace: "layerhost.host.request" })
      assert.strictEqual(line.requestId, answer.headers.get("x-request-id"))
      assert.strictEqual(line.requestId, answer.problem.requestId)
      assert.containsSubset(line.labels, { status, clientAddress: "127.0.0.1", reason: detail })
      const counted = (yield* metrics).find(({ id }) => id === "layerhost.http.refused_requests")
      assert.containsSubset(counted, {
        attributes: { "http.response.status_code": String(status) },
        state: { count: 1 }
      })
    })
  )

  it.effect("is no word to who has not said one", () =>
    Effect.gen(function* () {
      const { log, url } = yield* make(quick)
      const connection = yield* Connection.open(url)
      assert.strictEqual(yield* connection.closed, "")
      assert.isFalse((yield* log.lines).some(({ message }) => message.startsWith("Refused")))
    })
  )
})

describe("a body that breaks off", () => {
  const post = (path: string, ...headers: ReadonlyArray<string>) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\n${headers.map((header) => `${header}\r\n`).join("")}\r\n`

  it.effect.each<[string, string, string, number]>([
    ["too slow", "Content-Length: 10", "abc", 408],
    ["too slow in chunks", "Transfer-Encoding: chunked", "3\r\nabc\r\n", 408],
    ["with a bad chunk", "Transfer-Encoding: chunked", "3\r\nabc\r\nzz\r\n", 400]
  ])("is answered and told as any failure, in JSON and YAML: %s", ([_title, header, body, status]) =>
    Effect.gen(function* () {
      const { log, url } = yield* make(quick)
      const send = Effect.fnUntraced(function* (path: string, type: string) {
        const connection = yield* Connection.open(url)
        yield* connection.send(post(path, header, `Accept: ${type}`, "Content-Type: application/json") + body)
        const answer = lastAnswer(yield* connection.closed)
        assert.strictEqual(answer.status, status, path)
        assert.strictEqual(answer.headers.get("content-type"), type.replace("/", "/problem+"))
        assert.containsSubset(answer.problem, { status, requestId: "mine" })
        const line = yield* log.waitFor(`POST ${path} ${status}`)
        assert.strictEqual(line.requestId, "mine")
      })
      const sent = ["/raw/json", "/raw/text", "/raw/size", "/echo"].flatMap((path) =>
        ["application/json", "application/yaml"].map((type) => send(path, type))
      )
      yield* Effect.all(sent, { concurrency: "unbounded" })
    })
  )

  it.effect("does not keep the connection, where its handler does not read it", () =>
    Effect.gen(function* () {
      const { url } = yield* TestHost.make(
        [Plugin.make({ id: "deaf", routes: HttpRouter.add("POST", "/deaf", Effect.never) })],
        { listen: true, config: { host: { urls: "http://127.0.0.1:0", ...quick } } }
      )
      const connection = yield* Connection.open(url)
      yield* connection.send(post("/deaf", "Content-Length: 10") + "abc")
      yield* connection.closed
    })
  )
})

describe("what is malformed behind a request", () => {
  it.effect("is answered behind the answer of that request", () =>
    Effect.gen(function* () {
      const mayEnd = yield* Deferred.make<void>()
      const { log, url } = yield* TestHost.make(
        [
          Plugin.make({
            id: "slow",
            routes: HttpRouter.add("GET", "/slow", Effect.as(Deferred.await(mayEnd), HttpServerResponse.text("slow")))
          })
        ],
        { listen: true }
      )
      const connection = yield* Connection.open(url)
      yield* connection.send("GET /slow HTTP/1.1\r\nHost: a\r\n\r\nnonsense\r\n\r\nmore nonsense\r\n\r\n")
      yield* Deferred.succeed(mayEnd, undefined)
      const received = yield* connection.closed
      assert.deepStrictEqual(received.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 400"])
      assert.include(received, "\r\n\r\nslow")
      yield* log.waitFor("Refused a request 400")
    })
  )
})

describe("a request that Node would answer by itself", () => {
  it.effect.each([
    ["without a host", "GET / HTTP/1.1", 400, "The request has no Host header."],
    [
      "with an expectation",
      "GET / HTTP/1.1\r\nHost: a\r\nExpect: tea",
      417,
      "The request expects something other than 100-continue."
    ]
  ] as const)("is answered as any other, in JSON and YAML: %s", ([_title, head, status, detail]) =>
    Effect.gen(function* () {
      const { log, url } = yield* make()
      for (const type of ["application/json", "application/yaml"]) {
        const connection = yield* Connection.open(url)
        yield* connection.send(`${head}\r\nX-Request-Id: mine\r\nAccept: ${type}\r\n\r\n`)
        const answer = lastAnswer(yield* connection.closed)
        assert.strictEqual(answer.status, status)
        assert.strictEqual(answer.headers.get("content-type"), type.replace("/", "/problem+"))
        assert.containsSubset(answer.problem, { status, detail, requestId: "mine" })
      }
      yield* log.waitFor(`GET / ${status}`)
    })
  )

  it.effect("needs no host in HTTP/1.0", () =>
    Effect.gen(function* () {
      const { url } = yield* make()
      const connection = yield* Connection.open(url)
      yield* connection.send("GET / HTTP/1.0\r\n\r\n")
      assert.strictEqual(lastAnswer(yield* connection.closed).status, 404)
    })
  )
})
