import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TestHost } from "layerhost/testing"
import { Greeting, GreetingApi } from "../src/GreetingApi.ts"
import { greeting } from "../src/GreetingPlugin.ts"

it.effect("greets by name", () =>
  Effect.gen(function* () {
    const host = yield* TestHost.make([greeting], { config: { greeting: { text: "Servus" } } })
    const { greetings } = yield* host.client(GreetingApi)
    assert.deepStrictEqual(
      yield* greetings.greet({ params: { name: "Ada" } }),
      new Greeting({ message: "Servus, Ada!" })
    )
  })
)
