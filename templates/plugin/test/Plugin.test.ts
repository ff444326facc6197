import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TestClock } from "effect/testing"
import { TestHost } from "layerhost/testing"
import { clock } from "../src/index.ts"

it.effect("tells the time in the zone of the configuration", () =>
  Effect.gen(function* () {
    const { request } = yield* TestHost.make([clock], { config: { clock: { zone: "Europe/Vienna" } } })
    yield* TestClock.setTime(Date.UTC(2031, 0, 1, 12))
    const { json } = yield* request("/clock")
    assert.deepStrictEqual(json, { now: "2031-01-01T13:00:00.000+01:00[Europe/Vienna]" })
  })
)
