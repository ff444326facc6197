import { assert, describe, it } from "@effect/vitest"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as YAML from "yaml"
import * as ErrorMapping from "../../../src/Plugins/ErrorMapping.ts"
import * as Middleware from "../../../src/Plugins/Middleware.ts"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as PluginApi from "../../../src/Plugins/PluginApi.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"

class OutOfStock extends Schema.TaggedError<OutOfStock>()("OutOfStock", { item: Schema.String }) {}
class SoldForever extends OutOfStock {}
class Recalled extends OutOfStock {}
class Away extends Data.TaggedError("Away")<{ readonly seconds: number }> {}
class Silent extends Error {}
class Broken extends Error {}
class Strange extends Error {}

/** A plugin that has the words for errors which others meet. */
const stock = Plugin.make({
  id: "stock",
  errors: [
    ErrorMapping.make(OutOfStock, {
      status: 409,
      type: "https://shop.example/out-of-stock",
      title: "Out of stock",
      detail: ({ item }) => `There is no ${item} left.`,
      members: ({ item }) => ({ item, status: 200, requestId: "mine" })
    }),
    ErrorMapping.make(Recalled, { status: 410 }),
    ErrorMapping.make(Away, { status: 503, headers: ({ seconds }) => ({ "retry-after": String(seconds) }) }),
    ErrorMapping.make(Silent, { status: 404 }),
    ErrorMapping.make(Broken, {
      status: 400,
      detail: () => {
        throw new Error("no words")
      }
    }),
    ErrorMapping.make(Strange, { status: 400, members: () => ({ size: 1n as never }) })
  ]
})

const Api = HttpApi.make("shop").add(
  HttpApiGroup.make("shop").add(HttpApiEndpoint.get("get", "/api", { success: Schema.String }))
)

const failing = (path: `/${string}`, error: unknown) => HttpRouter.add("GET", path, Effect.fail(error))

const shop = Plugin.make({
  id: "shop",
  apis: [
    PluginApi.make(
      Api,
      HttpApiBuilder.group(Api, "shop", (handlers) =>
        handlers.handle("get", () => Effect.die(new OutOfStock({ item: "tea" })))
      )
    )
  ],
  middleware: [
    Middleware.make({
      name: "gate",
      routes: "own",
      build: Effect.succeed((handler) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
          url === "/gate" ? Effect.fail(new OutOfStock({ item: "tea" })) : handler
        )
      )
    })
  ],
  routes: Layer.mergeAll(
    failing("/raw", new OutOfStock({ item: "tea" })),
    failing("/gate", "the gate is further out"),
    failing("/below", new SoldForever({ item: "tea" })),
    failing("/recalled", new Recalled({ item: "tea" })),
    failing("/away", new Away({ seconds: 7 })),
    failing("/silent", new Silent("hunter2")),
    failing("/broken", new Broken()),
    failing("/strange", new Strange()),
    failing("/other", new Error("hunter2")),
    failing("/text", "hunter2")
  )
})

describe("errors that a plugin maps", () => {
  it.effect("are answered so wherever they come from, in JSON and YAML", () =>
    Effect.gen(function* () {
      const { log, request } = yield* TestHost.make([shop, stock])
      for (const path of ["/api", "/raw", "/below", "/gate"]) {
        for (const type of ["application/json", "application/yaml"]) {
          const { headers, status, text } = yield* request(path, {
            headers: { accept: type, "x-request-id": "the-id" }
          })
          assert.strictEqual(status, 409, path)
          assert.strictEqual(headers.get("content-type"), type.replace("/", "/problem+"))
          const { traceId, ...problem } = YAML.parse(text)
          assert.isString(traceId)
          assert.deepStrictEqual(problem, {
            type: "https://shop.example/out-of-stock",
            title: "Out of stock",
            status: 409,
            detail: "There is no tea left.",
            timestamp: "1970-01-01T00:00:00.000Z",
            requestId: "the-id",
            item: "tea"
          })
        }
      }
      assert.isTrue((yield* log.lines).every(({ level }) => level !== "Error"))
    })
  )

  it.effect("go by the nearest class, and say no more than the mapping does", () =>
    Effect.gen(function* () {
      const { log, request } = yield* TestHost.make([stock, shop])
      const recalled = yield* request("/recalled")
      assert.containsSubset(recalled.json, { type: "about:blank", title: "Gone", status: 410 })
      const away = yield* request("/away")
      assert.deepStrictEqual([away.status, away.headers.get("retry-after")], [503, "7"])
      const silent = yield* request("/silent")
      assert.strictEqual(silent.status, 404)
      assert.notInclude(silent.text, "hunter2")
      for (const path of ["/other", "/text", "/broken", "/strange"]) {
        const answer = yield* request(path)
        assert.strictEqual(answer.status, 500, path)
        assert.notInclude(answer.text, "hunter2")
      }
      const errors = (yield* log.lines).filter(({ level }) => level === "Error")
      // 503 and each 500.
      assert.lengthOf(errors, 5)
      assert.include(JSON.stringify(errors), "no words")
    })
  )
})
