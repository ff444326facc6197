import { describe, expect, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Deadlines from "../../src/SecretStore/Deadlines.ts"

describe("Deadlines", () => {
  it.effect("end each wait when its time is over, and none that was done before, also after a time with none", () =>
    Effect.gen(function* () {
      const deadlines = yield* Deadlines.make("10 seconds")
      const ended: Array<string> = []
      const begin = (name: string) =>
        Effect.map(Clock.currentTimeMillis, (now) => deadlines.begin(now, () => ended.push(name)))
      for (const round of ["first", "second"]) {
        ended.length = 0
        const one = yield* begin("one")
        yield* TestClock.adjust("1 second")
        yield* begin("two")
        yield* TestClock.adjust("3 seconds")
        const three = yield* begin("three")
        yield* begin("four")
        yield* TestClock.adjust("5999 millis")
        expect(ended, round).toEqual([])
        yield* TestClock.adjust("1 millis")
        expect(ended, round).toEqual(["one"])
        deadlines.done(one)
        yield* TestClock.adjust("1 second")
        expect(ended, round).toEqual(["one", "two"])
        deadlines.done(three)
        yield* TestClock.adjust("3 seconds")
        expect(ended, round).toEqual(["one", "two", "four"])
        yield* TestClock.adjust("1 hour")
      }
    })
  )

  it.effect("are over with their scope", () =>
    Effect.gen(function* () {
      let isEnded = false
      yield* Effect.scoped(
        Effect.map(Deadlines.make("1 second"), (deadlines) => deadlines.begin(0, () => void (isEnded = true)))
      )
      yield* TestClock.adjust("1 minute")
      expect(isEnded).toBe(false)
    })
  )
})
