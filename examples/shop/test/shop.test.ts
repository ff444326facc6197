import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TestHost } from "layerhost/testing"
import { plugins } from "../src/plugins.generated.ts"

it.effect("gives the customers of one plugin to the other", () =>
  Effect.gen(function* () {
    const { request } = yield* TestHost.make(plugins)
    assert.deepStrictEqual((yield* request("/customers/1/orders")).json, { customer: "Ada", orders: [] })
    assert.strictEqual((yield* request("/customers/2/orders")).status, 404)
  })
)
