import { assert, describe, it } from "@effect/vitest"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Clock from "effect/Clock"
import * as HealthCheck from "../../src/Plugins/HealthCheck.ts"
import * as Middleware from "../../src/Plugins/Middleware.ts"
import * as Plugin from "../../src/Plugins/Plugin.ts"
import * as PluginApi from "../../src/Plugins/PluginApi.ts"
import * as Section from "../../src/Plugins/Section.ts"
import * as TestHost from "../../src/testing/TestHost.ts"
import * as TestLog from "../../src/testing/TestLog.ts"

class Greeting extends Section.Service<Greeting>()("greeting", {
  text: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("Hello")))
}) {}

class Greeter extends Context.Service<Greeter, { readonly greet: (name: string) => string }>()("test/Greeter") {}

const GreeterLive = Layer.effect(
  Greeter,
  Effect.map(Greeting, ({ text }) => ({ greet: (name: string) => `${text}, ${name}!` }))
)

const greeter = Plugin.make({ id: "greeter", config: [Greeting], services: GreeterLive })

const greet = Effect.fnUntraced(function* (name: string) {
  const { greet } = yield* Greeter
  yield* Effect.log(`greeting ${name}`)
  return greet(name)
})

const Api = HttpApi.make("greetings").add(
  HttpApiGroup.make("greetings").add(
    HttpApiEndpoint.get("greet", "/api/:name", { params: { name: Schema.String }, success: Schema.String })
  )
)

/** Greets by an API and by a raw route. */
const greetings = Plugin.make({
  id: "greetings",
  apis: [
    PluginApi.make(
      Api,
      HttpApiBuilder.group(Api, "greetings", (handlers) => handlers.handle("greet", ({ params }) => greet(params.name)))
    )
  ],
  routes: HttpRouter.add(
    "GET",
    "/raw/:name",
    Effect.gen(function* () {
      const { name } = yield* HttpRouter.params
      return HttpServerResponse.text(yield* greet(name!))
    })
  )
})

/** A route that answers with what an effect gives. */
const answering = <E, R>(path: `/${string}`, effect: Effect.Effect<string, E, R>) =>
  HttpRouter.add(
    "GET",
    path,
    Effect.map(effect, (text) => HttpServerResponse.text(text))
  )

describe("Host", () => {
  it.effect("serves the APIs and raw routes of plugins over the services of earlier ones", () =>
    Effect.gen(function* () {
      const { host, request } = yield* TestHost.make([greeter, greetings], { config: { greeting: { text: "Hi" } } })
      assert.strictEqual((yield* request("/raw/Ada")).text, "Hi, Ada!")
      assert.strictEqual((yield* request("/api/Ada")).text, `"Hi, Ada!"`)
      assert.deepStrictEqual(host.plugins, ["greeter", "greetings"])
      assert.deepStrictEqual(
        host.routes.filter(({ plugin }) => plugin === "greetings"),
        [
          { plugin: "greetings", method: "GET", path: "/api/:name" },
          { plugin: "greetings", method: "GET", path: "/raw/:name" }
        ]
      )
    })
  )

  it.effect("serves on a socket what it serves in memory", () =>
    Effect.gen(function* () {
      const { request, url } = yield* TestHost.make([greeter, greetings], { listen: true })
      assert.match(url, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
      assert.strictEqual((yield* request("/raw/Ada")).text, "Hello, Ada!")
      assert.strictEqual((yield* request("/api/Ada")).text, `"Hello, Ada!"`)
    })
  )

  it.effect("marks the log lines of a request with its id and the plugin, in APIs and raw routes alike", () =>
    Effect.gen(function* () {
      const { log, request } = yield* TestHost.make([greeter, greetings])
      yield* request("/raw/Ada", { headers: { "x-request-id": "1" } })
      yield* request("/api/Eve", { headers: { "x-request-id": "2" } })
      const lines = (yield* log.lines).filter(({ message }) => message.startsWith("greeting "))
      assert.deepStrictEqual(
        lines.map(({ message, namespace, requestId }) => [message, namespace, requestId]),
        [
          ["greeting Ada", "greetings", "1"],
          ["greeting Eve", "greetings", "2"]
        ]
      )
    })
  )

  it.effect("marks the log lines of a plugin's parts with its id", () =>
    Effect.gen(function* () {
      const says = (part: string) => Effect.log(part)
      const { log, request } = yield* TestHost.make([
        Plugin.make({
          id: "chatty",
          services: Layer.effectDiscard(says("services")),
          healthChecks: Effect.as(says("health checks"), [
            HealthCheck.make({ name: "chatty", tags: ["chat"], check: Effect.as(says("check"), HealthCheck.healthy()) })
          ]),
          middleware: [
            Middleware.make({
              name: "chatty",
              build: Effect.as(says("middleware"), (handler) => Effect.andThen(says("request"), handler))
            })
          ],
          routes: Layer.effectDiscard(says("routes"))
        })
      ])
      yield* request("/health/chat")
      assert.deepStrictEqual(yield* log.messages("chatty"), [
        "services",
        "health checks",
        "middleware",
        "routes",
        "request",
        "check"
      ])
    })
  )

  it.effect("gives a plugin's own version of a host service to its routes, and to no earlier plugin", () =>
    Effect.gen(function* () {
      const join = Effect.map(Path.Path, (path) => path.join("a", "b"))
      const { request } = yield* TestHost.make([
        Plugin.make({ id: "posix", routes: answering("/posix", join) }),
        Plugin.make({
          id: "other",
          services: Layer.effect(
            Path.Path,
            Effect.map(Path.Path, (path) => Path.Path.of({ ...path, join: (...parts) => parts.join("|") }))
          ),
          routes: answering("/other", join)
        })
      ])
      assert.strictEqual((yield* request("/posix")).text, "a/b")
      assert.strictEqual((yield* request("/other")).text, "a|b")
    })
  )

  it.effect("keeps a plugin's sections from every other plugin", () =>
    Effect.gen(function* () {
      const peek = Effect.map(Effect.serviceOption(Greeting), ({ _tag }) => _tag)
      const { request } = yield* TestHost.make([
        greeter,
        Plugin.make({ id: "owner", config: [Greeting], routes: answering("/owner", peek) }),
        Plugin.make({ id: "other", routes: answering("/other", peek) })
      ])
      assert.strictEqual((yield* request("/owner")).text, "Some")
      assert.strictEqual((yield* request("/other")).text, "None")
    })
  )

  it.effect("lets Effect's Config read the same configuration", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make(
        [Plugin.make({ id: "config", routes: answering("/config", Config.String("mail:server")) })],
        { config: { mail: { server: "mx" } } }
      )
      assert.strictEqual((yield* request("/config")).text, "mx")
    })
  )

  it.effect("builds a layer that plugins share once", () =>
    Effect.gen(function* () {
      let builds = 0
      class Pool extends Context.Service<Pool, { readonly id: number }>()("test/Pool") {}
      const PoolLive = Layer.sync(Pool, () => ({ id: ++builds }))
      const plugin = <const Id extends string>(id: Id) =>
        Plugin.make({
          id,
          services: Layer.provide(Layer.effectDiscard(Pool), PoolLive),
          routes: Layer.provide(
            HttpRouter.use((router) =>
              Effect.flatMap(Pool, ({ id: pool }) => router.add("GET", `/${id}`, HttpServerResponse.text(`${pool}`)))
            ),
            PoolLive
          )
        })
      const { request } = yield* TestHost.make([plugin("a"), plugin("b")])
      assert.deepStrictEqual([(yield* request("/a")).text, (yield* request("/b")).text, builds], ["1", "1", 1])
    })
  )

  it.effect("gives routes and checks the scope of their run, which ends with it", () =>
    Effect.gen(function* () {
      const released: Array<string> = []
      const acquire = (name: string) =>
        Effect.acquireRelease(Effect.succeed(name), () => Effect.sync(() => released.push(name)))
      const ScopedApi = HttpApi.make("scoped").add(
        HttpApiGroup.make("scoped").add(HttpApiEndpoint.get("get", "/api", { success: Schema.String }))
      )
      const { request } = yield* TestHost.make([
        Plugin.make({
          id: "scoped",
          apis: [
            PluginApi.make(
              ScopedApi,
              HttpApiBuilder.group(ScopedApi, "scoped", (handlers) => handlers.handle("get", () => acquire("api")))
            )
          ],
          routes: answering("/raw", acquire("raw")),
          healthChecks: [
            HealthCheck.make({ name: "scoped", tags: ["x"], check: Effect.as(acquire("check"), HealthCheck.healthy()) })
          ]
        })
      ])
      assert.strictEqual((yield* request("/api")).status, 200)
      assert.strictEqual((yield* request("/raw")).status, 200)
      assert.strictEqual((yield* request("/health/x")).status, 200)
      assert.deepStrictEqual(released, ["api", "raw", "check"])
    })
  )

  it.effect("runs on the clock that it was built under", () =>
    Effect.gen(function* () {
      const now = answering(
        "/now",
        Effect.map(Clock.currentTimeMillis, (millis) => `${millis}`)
      )
      const { request } = yield* TestHost.make([Plugin.make({ id: "now", routes: now })], { listen: true })
      yield* TestClock.adjust(Duration.minutes(1))
      assert.strictEqual((yield* request("/now")).text, "60000")
    })
  )

  it.effect("does not take the span and the annotations in which it is built for those of requests", () =>
    Effect.gen(function* () {
      const span = answering(
        "/span",
        Effect.map(Effect.currentSpan, ({ name, parent }) => `${name}, parent ${parent._tag}`)
      )
      const { log, request } = yield* Effect.annotateLogs(
        Effect.withSpan(TestHost.make([Plugin.make({ id: "span", routes: span })]), "start"),
        { starter: true }
      )
      assert.strictEqual((yield* request("/span")).text, "GET, parent None")
      const line = (yield* log.lines).find(({ namespace }) => namespace === "layerhost.host.request")
      assert.deepStrictEqual(Object.keys(line!.labels), [
        "method",
        "route",
        "status",
        "durationMs",
        "clientAddress",
        "bytes"
      ])
    })
  )

  it.effect("answers a handler that throws with a 500 that says nothing, and logs why", () =>
    Effect.gen(function* () {
      const fails = (path: `/${string}`, what: () => Effect.Effect<HttpServerResponse.HttpServerResponse, unknown>) =>
        HttpRouter.add("GET", path, what)
      const { log, request } = yield* TestHost.make([
        Plugin.make({
          id: "throws",
          routes: Layer.mergeAll(
            fails("/throw", () => {
              throw new Error("thrown")
            }),
            fails("/string", () => Effect.fail("a string")),
            fails("/nothing", () => Effect.fail(undefined))
          )
        })
      ])
      for (const path of ["/throw", "/string", "/nothing"]) {
        const { status, text } = yield* request(path)
        assert.strictEqual(status, 500, path)
        assert.notMatch(text, /thrown|a string/)
      }
      const errors = (yield* log.lines).filter(({ level }) => level === "Error").map(({ error }) => error)
      assert.deepStrictEqual(errors, ["thrown", "a string", "undefined"])
      assert.strictEqual((yield* request("/health/readiness")).status, 200)
    })
  )

  it.effect("logs at Debug what each phase did, in order, and what is released, in reverse", () =>
    Effect.gen(function* () {
      const log = TestLog.make()
      const plugin = Plugin.make({
        id: "shop/orders",
        config: [Greeting],
        middleware: [Middleware.make({ name: "audit", order: 5, build: Effect.succeed((handler) => handler) })],
        healthChecks: [
          HealthCheck.make({ name: "orders", tags: ["readiness"], check: Effect.succeed(HealthCheck.healthy()) })
        ],
        apis: [
          PluginApi.make(
            Api,
            HttpApiBuilder.group(Api, "greetings", (handlers) =>
              handlers.handle("greet", ({ params }) => Effect.succeed(params.name))
            )
          )
        ]
      })
      yield* Effect.scoped(
        TestHost.make([plugin, Plugin.fromPackage({ name: "x", version: "1.0.0" }, greeter)], { listen: true, log })
      )
      assert.deepStrictEqual(
        (yield* log.messages("layerhost.host")).map((message) => message.replace(/:\d+$/, ":PORT")),
        [
          "Read 0 configuration files",
          "Sorted 2 plugins",
          "Built the services of plugin greeter",
          "Built the services of plugin shop/orders",
          "Registered the health checks api, disk_space, memory, orders",
          "Added middleware audit of plugin shop/orders at order 5, before all routes",
          "Mounted the API greetings of plugin shop/orders",
          "Mounted the routes of plugin greeter",
          "Mounted the routes of plugin shop/orders",
          "Everybody is trusted to name the client: the first entry of X-Forwarded-For is (forwardedHeaders:trustedProxies narrows this)",
          "Built the application: 2 plugins, 7 routes",
          "Listening on http://127.0.0.1:PORT",
          "Shutting down",
          "Released the services of plugin shop/orders",
          "Released the services of plugin greeter"
        ]
      )
    })
  )

  it.effect("gives layers the scope of the host, and lets it go with the host", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const plugin = Plugin.make({
        id: "scope",
        services: Layer.effectDiscard(
          Effect.flatMap(Effect.scope, (scope) =>
            Scope.addFinalizer(
              scope,
              Effect.sync(() => events.push("released"))
            )
          )
        )
      })
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* TestHost.make([plugin])
          events.push("built")
        })
      )
      assert.deepStrictEqual(events, ["built", "released"])
    })
  )
})
