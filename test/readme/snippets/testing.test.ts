import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TestHost } from "layerhost/testing"
import { expect, test } from "vitest"
import { hello } from "../../../examples/hello/src/HelloPlugin.ts"

it.effect("greets", () =>
  Effect.gen(function* () {
    const { log, request, spans } = yield* TestHost.make([hello], { config: { greeting: { text: "Servus" } } })
    const { json } = yield* request("/hello/Ada")
    assert.deepStrictEqual(json, { message: "Servus, Ada!" })
    assert.deepStrictEqual(yield* log.messages("hello"), [])
    yield* spans.waitFor("GET /hello/{name}")
  })
)

// Without Effect: `await using` stops the host.
test("greets", async () => {
  await using host = await TestHost.start([hello], { listen: true })
  const response = await host.fetch("/hello/Ada")
  expect(await response.json()).toEqual({ message: "Hello, Ada!" })
})
