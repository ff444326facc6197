import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as net from "node:net"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as PluginApi from "../../../src/Plugins/PluginApi.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import * as TestLog from "../../../src/testing/TestLog.ts"
import * as Connection from "./support/connection.ts"

const Thing = Schema.Struct({ name: Schema.String })
const api = HttpApi.make("things").add(
  HttpApiGroup.make("things").add(HttpApiEndpoint.post("post", "/things", { payload: Thing, success: Thing }))
)
const handlers = HttpApiBuilder.group(api, "things", (handlers) =>
  handlers.handle("post", ({ payload }) => Effect.succeed(payload))
)

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`

const large = 30_000_000

/** A host that listens until it is closed, with routes that wait for the test. */
const make = Effect.fnUntraced(function* (config: Readonly<Record<string, string>> = {}) {
  const entered = yield* Deferred.make<void>()
  const release = yield* Deferred.make<void>()
  const interrupted = yield* Deferred.make<void>()
  const wait = Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(release))
  const plugin = Plugin.make({
    id: "slow",
    apis: [PluginApi.make(api, handlers)],
    routes: Layer.mergeAll(
      HttpRouter.add("GET", "/quick", HttpServerResponse.text("quick")),
      HttpRouter.add(
        "GET",
        "/slow",
        Effect.as(wait, HttpServerResponse.text("slow")).pipe(
          Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
        )
      ),
      HttpRouter.add(
        "GET",
        "/stream",
        HttpServerResponse.stream(
          Stream.concat(Stream.make("first,"), Stream.fromEffect(Effect.as(wait, "last"))).pipe(Stream.encodeText)
        )
      ),
      HttpRouter.add("GET", "/large", HttpServerResponse.text("x".repeat(large)))
    )
  })
  const log = TestLog.make()
  const scope = yield* Scope.make()
  const { url } = yield* Scope.provide(
    TestHost.make([plugin], { listen: true, log, config: { "host:shutdownTimeout": "10 seconds", ...config } }),
    scope
  )
  const startClosing = Effect.forkChild(Scope.close(scope, Exit.void))
  /** Waits until nobody can connect any more. */
  const refused = Effect.gen(function* () {
    while (
      yield* Effect.callback<boolean>((resume) => {
        const socket = net.connect(Number(new URL(url).port), "127.0.0.1")
        socket.on("connect", () => {
          socket.destroy()
          resume(Effect.succeed(true))
        })
        socket.on("error", () => resume(Effect.succeed(false)))
      })
    );
  })
  return { entered, interrupted, log, refused, release, startClosing, url }
})

describe("when a host stops", () => {
  it.effect("a request in flight is answered, and its connection closed", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const connection = yield* Connection.open(host.url)
      yield* connection.send(get("/slow"))
      yield* Deferred.await(host.entered)
      const closing = yield* host.startClosing
      yield* host.refused
      assert.isUndefined(closing.pollUnsafe())
      yield* Deferred.succeed(host.release, undefined)
      yield* Fiber.join(closing)
      const answer = yield* connection.closed
      assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
      assert.match(answer, /\r\nconnection: close\r\n/i)
      assert.match(answer, /\r\n\r\nslow$/)
    })
  )

  it.effect("connections that are idle do not hold it up", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const silent = yield* Connection.open(host.url)
      const used = yield* Connection.open(host.url)
      yield* used.send(get("/quick"))
      assert.match(yield* used.receive("quick"), /\r\nconnection: keep-alive\r\n/i)
      // No time passes on the test's clock: nothing is waited for.
      yield* Fiber.join(yield* host.startClosing)
      yield* silent.closed
      yield* used.closed
    })
  )

  it.effect("a request that was on its way is answered, and its connection closed", () =>
    Effect.gen(function* () {
      const host = yield* make({ "host:keepAliveGrace": "1 minute" })
      const used = yield* Connection.open(host.url)
      yield* used.send(get("/quick"))
      yield* used.receive("quick")
      const closing = yield* host.startClosing
      yield* host.refused
      yield* used.send(get("/quick"))
      yield* Fiber.join(closing)
      assert.match(yield* used.closed, /quickHTTP\/1.1 200 OK\r\n(.+\r\n)*connection: close\r\n/i)
    })
  )

  it.effect("a connection that asked in vain for another protocol does not hold it up either", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const connection = yield* Connection.open(host.url)
      yield* connection.send(
        "GET /quick HTTP/1.1\r\nHost: test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAM\r\n\r\n"
      )
      assert.match(yield* connection.receive("quick"), /^HTTP\/1\.1 200 OK\r\n/)
      yield* Fiber.join(yield* host.startClosing)
      yield* connection.closed
    })
  )

  it.effect("a stream goes on to its end, and its connection is closed then", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const connection = yield* Connection.open(host.url)
      yield* connection.send(get("/stream"))
      // The head of the answer is already out, and says nothing of a close.
      assert.notMatch(yield* connection.receive("first,"), /connection: close/i)
      yield* Deferred.await(host.entered)
      const closing = yield* host.startClosing
      yield* host.refused
      yield* Deferred.succeed(host.release, undefined)
      yield* Fiber.join(closing)
      assert.match(yield* connection.closed, /first,\r\n4\r\nlast\r\n0\r\n\r\n$/)
    })
  )

  it.effect("an answer that is on its way arrives in full", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const connection = yield* Connection.open(host.url, { paused: true })
      yield* connection.send(get("/large"))
      // The line is written once the answer was handed over, long before its client has read it.
      let lines = yield* host.log.messages("layerhost.host.request")
      while (lines.length === 0) lines = yield* host.log.messages("layerhost.host.request")
      const closing = yield* host.startClosing
      yield* host.refused
      connection.socket.resume()
      yield* Fiber.join(closing)
      const answer = yield* connection.closed
      assert.strictEqual(answer.length - answer.indexOf("\r\n\r\n") - 4, large)
    })
  )

  it.effect("a request that outlives host:shutdownTimeout is interrupted and told so", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const connection = yield* Connection.open(host.url)
      yield* connection.send(get("/slow"))
      yield* Deferred.await(host.entered)
      const closing = yield* host.startClosing
      yield* host.refused
      yield* TestClock.adjust("9 seconds")
      assert.isFalse(yield* Deferred.isDone(host.interrupted))
      yield* TestClock.adjust("1 second")
      yield* Deferred.await(host.interrupted)
      yield* Fiber.join(closing)
      const answer = yield* connection.closed
      assert.match(answer, /^HTTP\/1\.1 503 Service Unavailable\r\n/)
      assert.match(answer, /\r\nconnection: close\r\n/i)
      assert.include(answer, '"status":503')
      const lines = yield* host.log.lines
      assert.isTrue(lines.some(({ message }) => message === "GET /slow 503"))
      assert.isTrue(lines.every(({ level }) => level !== "Error"))
    })
  )

  it.effect("a request whose body does not come is told so, too", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const connection = yield* Connection.open(host.url)
      yield* connection.send('POST /things HTTP/1.1\r\nHost: test\r\nContent-Length: 14\r\n\r\n{"name"')
      const quick = yield* Connection.open(host.url)
      yield* quick.send(get("/quick"))
      yield* quick.receive("quick")
      const closing = yield* host.startClosing
      yield* host.refused
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(closing)
      assert.match(yield* connection.closed, /^HTTP\/1\.1 503 Service Unavailable\r\n(.+\r\n)*connection: close\r\n/i)
    })
  )

  it.effect("a client that does not read holds it up no longer than that", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const connection = yield* Connection.open(host.url, { paused: true })
      yield* connection.send(get("/large"))
      let lines = yield* host.log.messages("layerhost.host.request")
      while (lines.length === 0) lines = yield* host.log.messages("layerhost.host.request")
      const closing = yield* host.startClosing
      yield* host.refused
      yield* TestClock.adjust("10 seconds")
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
    })
  )

  it.effect("half of a request holds it up no longer than that", () =>
    Effect.gen(function* () {
      const host = yield* make()
      const connection = yield* Connection.open(host.url)
      yield* connection.send("GET /quick HTTP/1.1\r\nHost:")
      const closing = yield* host.startClosing
      yield* host.refused
      yield* TestClock.adjust("10 seconds")
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
      yield* connection.closed
    })
  )
})
