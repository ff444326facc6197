import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { Host } from "layerhost"
import { hello } from "../../../examples/hello/src/HelloPlugin.ts"

it.effect("greets", () =>
  Effect.gen(function* () {
    const host = yield* Host.build([hello], { configuration: { values: { greeting: { text: "Servus" } } } })
    const response = yield* Effect.promise(() => host.fetch(new Request("http://test/hello/Ada")))
    assert.deepStrictEqual(yield* Effect.promise(() => response.json()), { message: "Servus, Ada!" })
  })
)
