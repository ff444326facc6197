import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Middleware from "../../../src/Plugins/Middleware.ts"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as PluginApi from "../../../src/Plugins/PluginApi.ts"
import * as Section from "../../../src/Plugins/Section.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"

class Word extends Context.Service<Word, { readonly word: string }>()("test/Word") {}
class User extends Context.Service<User, { readonly name: string }>()("test/User") {}
const word = (text: string) => Layer.succeed(Word, { word: text })

/** The word that a route or a middleware sees. */
const seen = Effect.map(Effect.serviceOption(Word), (found) => (found._tag === "Some" ? found.value.word : "nothing"))

const seeing = (path: `/${string}`) =>
  HttpRouter.add(
    "GET",
    path,
    Effect.map(seen, (word) => HttpServerResponse.text(word))
  )

/** Notes what it sees in a header, behind what was noted further in. */
const noting = (name: string, order = 0, routes?: Middleware.Routes) =>
  Middleware.make({
    name,
    order,
    ...(routes === undefined ? undefined : { routes }),
    build: Effect.succeed((handler) =>
      Effect.gen(function* () {
        const word = yield* seen
        const response = yield* handler
        const inner = response.headers["x-seen"]
        const all = inner === undefined ? [] : [inner]
        return HttpServerResponse.setHeader(response, "x-seen", [`${name}:${word}`, ...all].join(" "))
      })
    )
  })

/** Lets everything happen that waits for nothing. */
const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

describe("MiddlewareChain", () => {
  it.effect("orders by `order` over all plugins, and by plugin within an order", () =>
    Effect.gen(function* () {
      const plugin = <const Id extends string>(id: Id, ...orders: ReadonlyArray<number>) =>
        Plugin.make({ id, middleware: orders.map((order) => noting(`${id}${order}`, order)) })
      const { request } = yield* TestHost.make([
        plugin("a", 0, 10, -5),
        plugin("layerhost/f", 10, 0),
        Plugin.fromPackage({ name: "t", version: "1.0.0" }, plugin("t", 0, -5)),
        plugin("b", 0)
      ])
      const { headers, status } = yield* request("/nowhere")
      assert.strictEqual(status, 404)
      assert.isNull(headers.get("x-seen"), "what fails further in passes them by")
      assert.strictEqual(
        (yield* request("/health/liveness")).headers.get("x-seen"),
        ["t-5", "a-5", "layerhost/f0", "t0", "a0", "b0", "layerhost/f10", "a10"]
          .map((name) => `${name}:nothing`)
          .join(" ")
      )
    })
  )

  it.effect("gives each its plugin's services, and none of them to what is further in", () =>
    Effect.gen(function* () {
      const Api = HttpApi.make("api").add(
        HttpApiGroup.make("group").add(HttpApiEndpoint.get("get", "/api", { success: Schema.String }))
      )
      const { request } = yield* TestHost.make([
        Plugin.make({ id: "before", routes: seeing("/before"), middleware: [noting("before", 3)] }),
        Plugin.make({ id: "one", services: word("one"), middleware: [noting("one", 1)], routes: seeing("/one") }),
        Plugin.make({
          id: "two",
          services: word("two"),
          middleware: [noting("two", 2), noting("outer", -1)],
          routes: seeing("/two"),
          apis: [
            PluginApi.make(
              Api,
              HttpApiBuilder.group(Api, "group", (handlers) => handlers.handle("get", () => seen))
            )
          ]
        })
      ])
      const notes = "outer:two one:one two:two before:nothing"
      for (const [path, text] of [
        ["/before", "nothing"],
        ["/one", "one"],
        ["/two", "two"],
        ["/api", `"two"`]
      ] as const) {
        const answer = yield* request(path)
        assert.deepStrictEqual([answer.text, answer.headers.get("x-seen")], [text, notes])
      }
    })
  )

  it.effect("keeps the sections of a middleware's plugin from the routes behind it", () =>
    Effect.gen(function* () {
      class Key extends Section.Service<Key>()("key", { value: Schema.RedactedFromValue(Schema.String) }) {}
      const { request } = yield* TestHost.make(
        [
          Plugin.make({
            id: "keys",
            config: [Key],
            middleware: [
              Middleware.make({ name: "m", build: Effect.succeed((handler) => Effect.andThen(Key, handler)) })
            ]
          }),
          Plugin.make({
            id: "curious",
            routes: HttpRouter.add(
              "GET",
              "/",
              Effect.map(Effect.serviceOption(Key), ({ _tag }) => HttpServerResponse.text(_tag))
            )
          })
        ],
        { config: { key: { value: "secret" } } }
      )
      assert.strictEqual((yield* request("/")).text, "None")
    })
  )

  it.effect("passes on what a middleware gives to the request", () =>
    Effect.gen(function* () {
      const provides = (text: string, order: number) =>
        Middleware.make({
          name: text,
          order,
          build: Effect.succeed((handler) => Effect.provideService(handler, Word, { word: text }))
        })
      const { request } = yield* TestHost.make([
        Plugin.make({ id: "a", middleware: [provides("outer", 1), noting("between", 2), provides("inner", 3)] }),
        Plugin.make({ id: "b", routes: seeing("/") })
      ])
      const { headers, text } = yield* request("/")
      assert.deepStrictEqual([text, headers.get("x-seen")], ["inner", "between:outer"])
    })
  )

  it.effect("does the same for the global middleware among the routes of a plugin", () =>
    Effect.gen(function* () {
      const global = HttpRouter.middleware(
        <E, R>(handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
          Effect.gen(function* () {
            const { word } = yield* Word
            return HttpServerResponse.setHeader(yield* handler, "x-seen", word)
          }),
        { global: true }
      )
      const { request } = yield* TestHost.make([
        Plugin.make({ id: "before", routes: seeing("/before") }),
        Plugin.make({ id: "global", services: word("own"), routes: Layer.mergeAll(global, seeing("/own")) })
      ])
      const before = yield* request("/before")
      assert.deepStrictEqual([before.text, before.headers.get("x-seen")], ["nothing", "own"])
      const own = yield* request("/own")
      assert.deepStrictEqual([own.text, own.headers.get("x-seen")], ["own", "own"])
    })
  )

  it.effect("builds each once, and answers one that throws or fails with a 500", () =>
    Effect.gen(function* () {
      let builds = 0
      let mode: "pass" | "throw" | "fail" = "pass"
      const { log, request } = yield* TestHost.make([
        Plugin.make({
          id: "moody",
          middleware: [
            Middleware.make({
              name: "moody",
              build: Effect.sync(() => {
                builds++
                return (handler) =>
                  Effect.suspend(() => {
                    if (mode === "throw") throw new Error("moody")
                    return mode === "fail" ? Effect.fail("in a bad mood") : handler
                  })
              })
            })
          ]
        })
      ])
      assert.strictEqual((yield* request("/health/liveness")).status, 200)
      mode = "throw"
      assert.strictEqual((yield* request("/health/liveness")).status, 500)
      mode = "fail"
      assert.strictEqual((yield* request("/health/liveness")).status, 500)
      assert.strictEqual(builds, 1)
      const errors = (yield* log.lines).filter(({ level }) => level === "Error").map(({ error }) => error)
      assert.deepStrictEqual(errors, ["moody", "in a bad mood"])
    })
  )

  it.effect("lets a client that leaves interrupt a middleware, but not a route that must not be interrupted", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const isWaiting = yield* Deferred.make<void>()
      const isWorking = yield* Deferred.make<void>()
      const mayEnd = yield* Deferred.make<void>()
      const hasEnded = yield* Deferred.make<void>()
      const { host } = yield* TestHost.make([
        Plugin.make({
          id: "slow",
          middleware: [
            Middleware.make({
              name: "gate",
              build: Effect.succeed((handler) =>
                Effect.gen(function* () {
                  if (events.length > 0) return yield* handler
                  yield* Deferred.succeed(isWaiting, undefined)
                  return yield* Effect.never
                }).pipe(Effect.onInterrupt(() => Effect.sync(() => events.push("gate interrupted"))))
              )
            })
          ],
          routes: HttpRouter.add(
            "GET",
            "/work",
            Effect.gen(function* () {
              yield* Deferred.succeed(isWorking, undefined)
              yield* Deferred.await(mayEnd)
              events.push("work done")
              yield* Deferred.succeed(hasEnded, undefined)
              return HttpServerResponse.empty()
            }),
            { uninterruptible: true }
          )
        })
      ])
      const send = Effect.fnUntraced(function* (started: Deferred.Deferred<void>) {
        const client = new AbortController()
        const answer = yield* Effect.forkChild(
          Effect.promise(() => host.fetch(new Request("http://host/work", { signal: client.signal })))
        )
        yield* Deferred.await(started)
        yield* turn
        client.abort()
        return answer
      })
      yield* Fiber.join(yield* send(isWaiting))
      assert.deepStrictEqual(events, ["gate interrupted"])
      const second = yield* send(isWorking)
      yield* Deferred.succeed(mayEnd, undefined)
      yield* Deferred.await(hasEnded)
      yield* Fiber.join(second)
      assert.strictEqual(events[1], "work done")
    })
  )
})

describe("middleware of a plugin's own routes", () => {
  const Api = HttpApi.make("api").add(
    HttpApiGroup.make("group").add(
      HttpApiEndpoint.get("get", "/api/:id", { params: { id: Schema.FiniteFromString }, success: Schema.String })
    )
  )
  const api = PluginApi.make(
    Api,
    HttpApiBuilder.group(Api, "group", (handlers) => handlers.handle("get", () => seen))
  )

  it.effect("stands before its APIs and raw routes alone, further in than that of all routes", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([
        Plugin.make({ id: "before", routes: seeing("/before"), middleware: [noting("all", 9)] }),
        Plugin.make({
          id: "own",
          services: word("own"),
          apis: [api],
          routes: Layer.merge(
            seeing("/own"),
            HttpRouter.use((router) =>
              router
                .prefixed("/prefixed")
                .addAll([HttpRouter.route("GET", "/own", Effect.map(seen, HttpServerResponse.text))])
            )
          ),
          middleware: [noting("inner", 5, "own"), noting("outer", -5, "own"), noting("second", 5, "own")]
        }),
        Plugin.make({ id: "other", services: word("other"), middleware: [noting("other", -99, "own")] })
      ])
      const own = "all:nothing outer:own inner:own second:own"
      for (const [path, notes] of [
        ["/own", own],
        ["/prefixed/own", own],
        ["/api/1", own],
        ["/before", "all:nothing"],
        ["/health/liveness", "all:nothing"]
      ] as const) {
        const answer = yield* request(path)
        assert.deepStrictEqual([answer.status, answer.headers.get("x-seen")], [200, notes], path)
      }
      assert.strictEqual((yield* request("/own")).text, "own")
      // No route of the plugin was found.
      assert.isNull((yield* request("/own", { method: "PUT" })).headers.get("x-seen"))
    })
  )

  it.effect("turns requests away, gives to the handler, and sees what it fails with", () =>
    Effect.gen(function* () {
      const failures: Array<unknown> = []
      const guard = Middleware.make({
        name: "guard",
        routes: "own",
        build: Effect.map(
          Word,
          ({ word }) =>
            (handler) =>
              Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
                headers["authorization"] === word
                  ? Effect.tapError(Effect.provideService(handler, User, { name: word }), (error) =>
                      Effect.sync(() => failures.push(error))
                    )
                  : Effect.succeed(HttpServerResponse.empty({ status: 401 }))
              )
        )
      })
      const { log, request } = yield* TestHost.make([
        Plugin.make({
          id: "guarded",
          services: word("sesame"),
          apis: [api],
          middleware: [guard],
          routes: Layer.mergeAll(
            HttpRouter.add("GET", "/user", Effect.map(Effect.serviceOption(User), HttpServerResponse.jsonUnsafe)),
            HttpRouter.add("GET", "/fail", Effect.fail("in a bad mood"))
          )
        })
      ])
      const authorization = { headers: { authorization: "sesame" } }
      for (const accept of ["application/json", "application/yaml"]) {
        const refused = yield* request("/user", { headers: { accept } })
        assert.strictEqual(refused.status, 401)
        assert.strictEqual(refused.headers.get("content-type"), accept.replace("/", "/problem+"))
      }
      assert.containsSubset((yield* request("/user", authorization)).json, { value: { name: "sesame" } })
      assert.strictEqual((yield* request("/api/x")).status, 401)
      assert.strictEqual((yield* request("/api/x", authorization)).status, 400)
      assert.strictEqual((yield* request("/fail", authorization)).status, 500)
      assert.deepStrictEqual(
        failures.map((error) => (typeof error === "string" ? error : (error as { readonly _tag: string })._tag)),
        ["InvalidRequest", "in a bad mood"]
      )
      const line = (yield* log.lines).find(({ message }) => message === "GET /user 401")
      assert.strictEqual(line?.labels["route"], "/user")
    })
  )

  it.effect("leaves the route as it may be interrupted", () =>
    Effect.gen(function* () {
      const isWorking = yield* Deferred.make<void>()
      const wasInterrupted = yield* Deferred.make<void>()
      const { fetch } = yield* TestHost.make([
        Plugin.make({
          id: "slow",
          middleware: [noting("own", 0, "own")],
          routes: HttpRouter.add(
            "GET",
            "/work",
            Deferred.succeed(isWorking, undefined).pipe(
              Effect.andThen(Effect.never),
              Effect.onInterrupt(() => Deferred.succeed(wasInterrupted, undefined))
            )
          )
        })
      ])
      const client = new AbortController()
      const answer = yield* Effect.forkChild(
        Effect.exit(Effect.tryPromise(() => fetch("/work", { signal: client.signal })))
      )
      yield* Deferred.await(isWorking)
      yield* turn
      client.abort()
      yield* Deferred.await(wasInterrupted)
      yield* Fiber.join(answer)
    })
  )

  it.effect("is a problem of the start where it cannot be put around a route", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        TestHost.make([
          Plugin.make({
            id: "broken",
            routes: seeing("/broken"),
            middleware: [
              Middleware.make({
                name: "broken",
                routes: "own",
                build: Effect.succeed(() => {
                  throw new Error("not today")
                })
              })
            ]
          })
        ])
      )
      assert.match(error.message, /plugin "broken", routes: Error: not today/)
    })
  )
})
