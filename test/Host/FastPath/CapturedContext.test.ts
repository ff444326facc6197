import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as CapturedContext from "../../../src/Host/FastPath/CapturedContext.ts"

class Word extends Context.Service<Word, string>()("test/Word") {}
class Step extends HttpApiMiddleware.Service<Step>()("test/Step") {}

const Api = HttpApi.make("api").add(
  HttpApiGroup.make("group").add(
    HttpApiEndpoint.get("plain", "/"),
    HttpApiEndpoint.get("behind", "/behind").middleware(Step)
  )
)

describe("CapturedContext", () => {
  it.effect("finds the services that a handler captured, and runs nothing of the endpoint", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const note = (name: string) => Effect.sync(() => void ran.push(name))
      const handlers = HttpApiBuilder.group(Api, "group", (handlers) =>
        handlers.handleAll({ plain: () => note("plain"), behind: () => note("behind") })
      ).pipe(
        Layer.provide(Layer.succeed(Step, (handler) => Effect.andThen(note("step"), handler))),
        Layer.provide(Layer.succeed(Word, "captured"))
      )
      const provided = yield* Layer.build(handlers)
      const { routes } = provided.mapUnsafe.get(Api.groups.group.key) as { routes: ReadonlyArray<HttpRouter.Route> }
      assert.lengthOf(routes, 2)
      for (const { handler } of routes) {
        const captured = CapturedContext.find(handler)
        assert.strictEqual(captured && Context.getOrUndefined(captured, Word), "captured")
      }
      assert.deepStrictEqual(ran, [])
    })
  )

  it("finds nothing in what captured nothing", () => {
    for (const other of [
      Effect.succeed(1),
      Effect.fail("no"),
      Effect.die(new Error("no")),
      Effect.sync(() => 1),
      Effect.interrupt,
      Effect.sync(() => {
        throw new Error("no")
      })
    ]) {
      assert.isUndefined(CapturedContext.find(other))
    }
  })
})
