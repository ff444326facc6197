import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Middleware from "../../../src/Plugins/Middleware.ts"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import { Given, plugins, seen, Twice } from "./support/everything.ts"

const middleware = (routes: Middleware.Routes) =>
  Middleware.make({
    name: routes,
    routes,
    build: Effect.succeed((handler) =>
      Effect.provideService(Effect.provideService(handler, Given, routes), Twice, routes)
    )
  })
const global = HttpRouter.middleware(
  <E, R>(handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.provideService(handler, Given, "global"),
  { global: true }
)
const others = {
  "without middleware": { given: "-", plugins: [] },
  "with middleware": { given: "all", plugins: [Plugin.make({ id: "more", middleware: [middleware("all")] })] },
  "with another plugin's own middleware": {
    given: "-",
    plugins: [
      Plugin.make({
        id: "more",
        middleware: [middleware("own")],
        routes: HttpRouter.add("GET", "/more", Effect.map(seen, HttpServerResponse.jsonUnsafe))
      })
    ]
  },
  "with global middleware of routes": {
    given: "global",
    plugins: [Plugin.make({ id: "more", routes: global, services: Layer.empty })]
  }
}

describe("RequestContext", () => {
  for (const [name, { given, plugins: more }] of Object.entries(others)) {
    it.effect(`gives each handler the services of its plugin and those before it, and no others, ${name}`, () =>
      Effect.gen(function* () {
        const { request } = yield* TestHost.make([...plugins, ...more])
        const seenAt = (path: string) => Effect.map(request(path), ({ json }) => json)
        //                                                     Earlier    Own    Local    Twice      Later    Given
        assert.deepStrictEqual(yield* seenAt("/earlier"), ["earlier", "-", "-", "earlier", "-", given])
        assert.deepStrictEqual(yield* seenAt("/everything"), ["earlier", "own", "-", "own", "-", given])
        assert.deepStrictEqual(yield* seenAt("/services"), ["earlier", "own", "-", "own", "-", given])
        assert.deepStrictEqual(yield* seenAt("/shadowed"), ["earlier", "own", "local", "local", "-", given])
        assert.deepStrictEqual(yield* seenAt("/later"), ["earlier", "own", "-", "later", "later", given])
      })
    )
  }
})
