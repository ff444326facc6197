import { assert, describe, it, layer } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as Plugin from "../../src/Plugins/Plugin.ts"
import * as PluginApi from "../../src/Plugins/PluginApi.ts"
import * as Section from "../../src/Plugins/Section.ts"
import * as Task from "../../src/Plugins/Task.ts"
import { replace } from "../../src/testing/Replacement.ts"
import * as TestHost from "../../src/testing/TestHost.ts"

class Shop extends Section.Service<Shop>()("shop", {
  name: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("Corner")))
}) {}

/** Sends letters; in truth through a carrier, which costs money. */
class Mailer extends Context.Service<Mailer, { readonly send: (to: string) => Effect.Effect<string> }>()(
  "test/Mailer"
) {}
class Carrier extends Context.Service<Carrier, { readonly name: string }>()("test/Carrier") {}

const events: Array<string> = []
const carrierLayer = Layer.effect(
  Carrier,
  Effect.sync(() => {
    events.push("carrier")
    return { name: "the post" }
  })
)
const mailerLayer = Layer.effect(
  Mailer,
  Effect.map(Carrier, ({ name }) => ({ send: (to: string) => Effect.succeed(`${to} by ${name}`) }))
).pipe(Layer.provide(carrierLayer))

const sent = Metric.counter("shop_letters_sent", { incremental: true })

const Api = HttpApi.make("shop").add(
  HttpApiGroup.make("letters").add(
    HttpApiEndpoint.post("send", "/letters/:to", { params: { to: Schema.String }, success: Schema.String })
  )
)

const shop = Plugin.make({
  id: "shop",
  config: [Shop],
  services: mailerLayer,
  apis: [
    PluginApi.make(
      Api,
      HttpApiBuilder.group(Api, "letters", (handlers) =>
        handlers.handle("send", ({ params }) =>
          Effect.gen(function* () {
            yield* Effect.logInfo("sending", { to: params.to })
            yield* Metric.update(sent, 1)
            return yield* Effect.flatMap(Mailer, (mailer) => mailer.send(params.to)).pipe(
              Effect.withSpan("Mailer.send")
            )
          })
        )
      )
    )
  ],
  routes: Layer.mergeAll(
    HttpRouter.add(
      "GET",
      "/name",
      Effect.map(Shop, ({ name }) => HttpServerResponse.text(name))
    ),
    HttpRouter.add(
      "GET",
      "/now",
      Effect.map(Clock.currentTimeMillis, (now) => HttpServerResponse.text(String(now)))
    ),
    HttpRouter.add(
      "GET",
      "/token",
      Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
        HttpServerResponse.jsonUnsafe({ token: headers["authorization"] ?? null })
      )
    )
  ),
  tasks: [Task.make("sweep", Effect.logInfo("swept"))]
})

describe("make", () => {
  for (const listen of [false, true]) {
    describe(listen ? "on a socket" : "in memory", () => {
      it.effect("sends requests through the whole pipeline, as an effect, by fetch and as a client of Effect", () =>
        Effect.gen(function* () {
          const host = yield* TestHost.make([shop], { listen, config: { shop: { name: "Deli" } } })
          assert.match(host.url, listen ? /^http:\/\/127\.0\.0\.1:\d+$/ : /^http:\/\/localhost$/)
          const answer = yield* host.request("/name")
          assert.deepStrictEqual([answer.status, answer.text], [200, "Deli"])
          assert.isNotNull(answer.headers.get("x-request-id"))
          assert.deepStrictEqual((yield* host.request("/token")).json, { token: null })
          assert.strictEqual((yield* Effect.promise(() => host.fetch(`${host.url}/name`))).status, 200)
          const response = yield* host.httpClient.get("/name")
          assert.strictEqual(yield* response.text, "Deli")
        })
      )

      it.effect("gives a typed client of an API", () =>
        Effect.gen(function* () {
          const host = yield* TestHost.make([shop], { listen })
          const client = yield* host.client(Api)
          assert.strictEqual(yield* client.letters.send({ params: { to: "Ada" } }), "Ada by the post")
        })
      )
    })
  }

  it.effect("lets a client add headers", () =>
    Effect.gen(function* () {
      const Tokens = HttpApi.make("tokens").add(
        HttpApiGroup.make("tokens").add(
          HttpApiEndpoint.get("token", "/token", { success: Schema.Struct({ token: Schema.NullOr(Schema.String) }) })
        )
      )
      const host = yield* TestHost.make([shop])
      const client = yield* host.client(Tokens, {
        transformClient: HttpClient.mapRequest(HttpClientRequest.bearerToken("secret"))
      })
      assert.deepStrictEqual(yield* client.tokens.token(), { token: "Bearer secret" })
    })
  )

  it.effect("captures the log, the spans and the metrics of this host alone", () =>
    Effect.gen(function* () {
      const host = yield* TestHost.make([shop], { config: { logging: { format: "logfmt" } } })
      const other = yield* TestHost.make([shop])
      yield* host.request("/letters/Ada", { method: "POST" })

      const line = yield* host.log.waitFor("sending")
      assert.deepStrictEqual([line.namespace, line.level, line.labels["to"]], ["shop", "Information", "Ada"])
      assert.isString(line.requestId)
      const server = yield* host.spans.waitFor("POST /letters/{to}")
      const [inner] = yield* host.spans.ended
      assert.strictEqual(inner!.name, "Mailer.send")
      assert.strictEqual(Option.getOrThrow(inner!.parent).spanId, server.spanId)
      assert.strictEqual(server.attributes.get("http.response.status_code"), 200)
      assert.strictEqual((yield* host.metric(sent)).count, 1)
      const ids = (yield* host.metrics).map(({ id }) => id)
      assert.includeMembers(ids, ["shop_letters_sent", "http.server.request.duration"])

      assert.deepStrictEqual(yield* other.log.messages("shop"), [])
      assert.deepStrictEqual(yield* other.spans.ended, [])
      assert.strictEqual((yield* other.metric(sent)).count, 0)
    })
  )

  it.effect("lives by the TestClock", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([shop])
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* request("/now")).text, "60000")
    })
  )

  it.effect("runs the tasks where it listens, and only there", () =>
    Effect.gen(function* () {
      const listening = yield* TestHost.make([shop], { listen: true })
      assert.strictEqual((yield* listening.log.waitFor("swept")).namespace, "shop")
      const inMemory = yield* TestHost.make([shop])
      assert.deepStrictEqual(yield* inMemory.log.messages("shop"), [])
    })
  )
})

describe("replace", () => {
  const fake = Layer.succeed(Mailer, { send: (to) => Effect.succeed(`${to} by nobody`) })
  const send = (host: TestHost.Service) =>
    Effect.map(host.request("/letters/Ada", { method: "POST" }), ({ json }) => json)

  it.effect("replaces a layer of a plugin, and never builds it", () =>
    Effect.gen(function* () {
      events.length = 0
      const host = yield* TestHost.make([shop], { replace: [replace(mailerLayer, fake)] })
      assert.strictEqual(yield* send(host), "Ada by nobody")
      assert.deepStrictEqual(events, [])
    })
  )

  it.effect("replaces a layer inside another", () =>
    Effect.gen(function* () {
      const by = (name: string) => replace(carrierLayer, Layer.succeed(Carrier, { name }))
      const [pigeon, owl] = [
        yield* TestHost.make([shop], { replace: [by("a pigeon")] }),
        yield* TestHost.make([shop], { replace: [by("an owl")] })
      ]
      assert.deepStrictEqual([yield* send(pigeon), yield* send(owl)], ["Ada by a pigeon", "Ada by an owl"])
      assert.strictEqual(yield* send(yield* TestHost.make([shop])), "Ada by the post")
    })
  )

  it.effect("replaces the services of a plugin, also of one that a package brought", () =>
    Effect.gen(function* () {
      const packaged = Plugin.fromPackage({ name: "shop", version: "1.0.0" }, shop)
      const host = yield* TestHost.make([packaged], { replace: [replace(shop, fake)] })
      assert.strictEqual(yield* send(host), "Ada by nobody")
    })
  )

  it.effect("gives what a later layer needs", () =>
    Effect.gen(function* () {
      const counting = Layer.effect(
        Mailer,
        Effect.map(Effect.scope, () => ({ send: () => Effect.succeed("counted") }))
      )
      const host = yield* TestHost.make([shop], { replace: [replace(mailerLayer, counting)] })
      assert.strictEqual(yield* send(host), "counted")
    })
  )

  it.effect("fails where the host never built the layer", () =>
    Effect.gen(function* () {
      const copy = Layer.effect(
        Mailer,
        Effect.map(Carrier, () => ({ send: () => Effect.succeed("") }))
      )
      const idle = Plugin.make({ id: "idle" })
      const error = yield* Effect.flip(
        TestHost.make([shop, idle], {
          replace: [replace(mailerLayer, fake), replace(copy, fake), replace(idle, Layer.empty)]
        })
      )
      assert.strictEqual(
        error.message,
        "replace[1], replace[2]: the host never built the layer that is to be replaced. Name the very layer that the " +
          "plugin uses: a function that makes layers makes another one at each call. The services of a plugin are " +
          "replaced as a whole by replace(plugin, layer)."
      )
    })
  )
})

layer(TestHost.layer([shop]))("layer", (it) => {
  it.effect("gives the host to every test", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.TestHost
      assert.strictEqual((yield* request("/name")).text, "Corner")
    })
  )
})

describe("start", () => {
  it("serves a test that is written with promises", async () => {
    let after: TestHost.Service
    {
      await using host = await TestHost.start([shop], { listen: true })
      after = host
      assert.strictEqual(await (await host.fetch("/name")).text(), "Corner")
      assert.strictEqual((await host.run(host.request("/name"))).text, "Corner")
      const client = await host.run(host.client(Api))
      assert.strictEqual(await host.run(client.letters.send({ params: { to: "Ada" } })), "Ada by the post")
    }
    const refused = await after.fetch("/name").catch((error: TypeError) => error.message)
    assert.strictEqual(refused, "fetch failed")
  })

  it("holds time still with testClock", async () => {
    await using host = await TestHost.start([shop], { testClock: true })
    await host.run(TestClock.adjust("1 hour"))
    assert.strictEqual(await (await host.fetch("/now")).text(), "3600000")
  })

  it("rejects with what keeps the host from coming up, having released the rest", async () => {
    const released: Array<string> = []
    const first = Plugin.make({
      id: "first",
      services: Layer.effectDiscard(Effect.addFinalizer(() => Effect.sync(() => released.push("first"))))
    })
    const broken = Plugin.make({ id: "broken", services: Layer.effectDiscard(Effect.fail(new Error("no database"))) })
    const error = await TestHost.start([first, broken]).then(
      () => undefined,
      (error: Error) => error
    )
    assert.include(error?.message, 'plugin "broken", services: Error: no database')
    assert.deepStrictEqual(released, ["first"])
  })
})
