import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import * as Connection from "./support/connection.ts"

const change = "POST /change HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
const slow = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"

const make = Effect.gen(function* () {
  const changed = yield* Deferred.make<void>()
  const entered = yield* Deferred.make<void>()
  const mayEnd = yield* Deferred.make<void>()
  let changes = 0
  const plugin = Plugin.make({
    id: "changes",
    routes: Layer.mergeAll(
      HttpRouter.add(
        "POST",
        "/change",
        Effect.as(
          Effect.andThen(
            Effect.sync(() => changes++),
            Deferred.succeed(changed, undefined)
          ),
          HttpServerResponse.text("changed")
        )
      ),
      HttpRouter.add(
        "POST",
        "/text",
        Effect.flatMap(HttpServerRequest, ({ text }) => Effect.map(text, HttpServerResponse.text))
      ),
      HttpRouter.add(
        "GET",
        "/slow",
        Effect.as(
          Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(mayEnd)),
          HttpServerResponse.text("slow")
        )
      ),
      HttpRouter.add("GET", "/last", HttpServerResponse.text("last", { headers: { connection: "close" } }))
    )
  })
  const { url } = yield* TestHost.make([plugin], { listen: true, config: { "host:maxRequestSize": 10 } })
  return { url, changes: () => changes, changed, entered, mayEnd }
})

describe("requests that are sent without waiting", () => {
  it.effect("are answered in their order, each after the one before", () =>
    Effect.gen(function* () {
      const { changed, changes, entered, mayEnd, url } = yield* make
      const connection = yield* Connection.open(url)
      yield* connection.send(slow + change.repeat(100))
      yield* Deferred.await(entered)
      // Another connection does not wait, and all that was sent has been read when its answer is there.
      const other = yield* Connection.open(url)
      yield* other.send("GET /last HTTP/1.1\r\nHost: a\r\n\r\n")
      yield* other.closed
      assert.strictEqual(changes(), 0)
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Deferred.await(changed)
      yield* connection.send("GET /last HTTP/1.1\r\nHost: a\r\n\r\n")
      const bodies = (yield* connection.closed).match(/\r\n\r\n[a-z]+/g)!.map((body) => body.trim())
      assert.deepStrictEqual(bodies, ["slow", ...Array.from({ length: 100 }, () => "changed"), "last"])
      assert.strictEqual(changes(), 100)
    })
  )

  it.effect("may have bodies that come while they wait", () =>
    Effect.gen(function* () {
      const { entered, mayEnd, url } = yield* make
      const connection = yield* Connection.open(url)
      yield* connection.send(`${slow}POST /text HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc`)
      yield* Deferred.await(entered)
      yield* connection.send("def")
      yield* Deferred.succeed(mayEnd, undefined)
      assert.match(yield* connection.receive("abcdef"), /\r\n\r\nslowHTTP/)
    })
  )

  it.effect.each<[string, string]>([
    ["of a client that closes", "GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"],
    ["of a route that closes", "GET /last HTTP/1.1\r\nHost: a\r\n\r\n"],
    [
      "to a body that is too large",
      `POST /text HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n${"x".repeat(11)}\r\n0\r\n\r\n`
    ],
    ["to a body that says so", `POST /text HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n${"x".repeat(11)}`],
    ["to too many headers", `GET /last HTTP/1.1\r\nHost: a\r\n${"a: b\r\n".repeat(101)}\r\n`],
    ["to a request without a host", "GET /last HTTP/1.1\r\n\r\n"],
    ["behind one that was waited for", `${slow}GET /last HTTP/1.1\r\nHost: a\r\n\r\n`]
  ])("do not happen behind the last answer of a connection: %s", ([_title, sent]) =>
    Effect.gen(function* () {
      const { changes, mayEnd, url } = yield* make
      const connection = yield* Connection.open(url)
      connection.socket.on("error", () => {})
      yield* connection.send(sent + change.repeat(3))
      yield* Deferred.succeed(mayEnd, undefined)
      const received = yield* connection.closed
      assert.match(received, /\r\nconnection: close\r\n/i)
      assert.notInclude(received, "changed")
      assert.strictEqual(changes(), 0)
    })
  )

  it.effect("are forgotten where the client leaves", () =>
    Effect.gen(function* () {
      const { changes, entered, mayEnd, url } = yield* make
      const connection = yield* Connection.open(url)
      yield* connection.send(slow + change)
      yield* Deferred.await(entered)
      connection.socket.destroy()
      yield* connection.closed
      const other = yield* Connection.open(url)
      yield* other.send("GET /last HTTP/1.1\r\nHost: a\r\n\r\n")
      yield* other.closed
      yield* Deferred.succeed(mayEnd, undefined)
      assert.strictEqual(changes(), 0)
    })
  )
})
