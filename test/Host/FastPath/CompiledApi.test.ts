import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as CompiledApi from "../../../src/Host/FastPath/CompiledApi.ts"
import * as RequestContext from "../../../src/Host/FastPath/RequestContext.ts"
import { Api, handlers } from "./support/everything.ts"

/** Endpoints that are left to Effect's runtime, and why. */
const left = {
  text: "no JSON comes in",
  form: "no JSON comes in",
  mixed: "not only JSON comes in",
  multipart: "no JSON comes in",
  search: "what comes in is the query",
  raw: "the handler reads the request itself",
  nothing: "no body goes out",
  created: "no body goes out",
  either: "there are two successes",
  csv: "no JSON goes out",
  hal: "another type goes out",
  withHeaders: "headers go out",
  ndjson: "a stream goes out",
  sse: "a stream goes out",
  guardedServices: "a middleware of the API stands before it"
}

describe("CompiledApi", () => {
  it.effect("compiles each endpoint that takes JSON or nothing and answers in JSON, and no other", () =>
    Effect.gen(function* () {
      const provided = yield* Layer.build(handlers)
      const compile = CompiledApi.make(
        Api as unknown as HttpApi.Top,
        provided,
        RequestContext.make(() => false)
      )
      const stock = Effect.succeed(HttpServerResponse.empty())
      const compiled: Array<string> = []
      const others: Array<string> = []
      for (const group of Object.values(Api.groups)) {
        const { routes } = provided.mapUnsafe.get(group.key) as { routes: ReadonlyArray<HttpRouter.Route> }
        for (const endpoint of Object.values(group.endpoints)) {
          const route = routes.find(({ method, path }) => method === endpoint.method && path === endpoint.path)!
          const names = compile(route, stock) === undefined ? others : compiled
          names.push(endpoint.identifier)
        }
      }
      assert.deepStrictEqual(others, Object.keys(left))
      assert.deepStrictEqual(
        compiled.toSorted(),
        "path query headers all class tree union several optional nullable strict patient slow slowAnswer again outcome outcomeOf maybe any services hook cookie router logs shadowedServices quietly"
          .split(" ")
          .toSorted()
      )
    })
  )
})
