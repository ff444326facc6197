import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import * as MemoryCounters from "../../../src/Host/RateLimiting/MemoryCounters.ts"
import * as Campaign from "../../support/Campaign.ts"
import { countIn, suite } from "./CounterStoreTest.ts"

suite("MemoryCounters", (options) => Effect.succeed(MemoryCounters.make(options)), TestClock.adjust)

const hour = (limit: number) => [{ period: "1h", periodMillis: 3_600_000, limit }]

describe("MemoryCounters", () => {
  it(
    "takes 28 MiB, and the process less than 160, however many clients there are",
    () => {
      const script = join(import.meta.dirname, "MemoryUse.ts")
      const clients = Campaign.sized(10_000_000, 100_000)
      const output = execFileSync(process.execPath, ["--expose-gc", script, `${clients}`], { encoding: "utf8" })
      const use: Readonly<Record<"table" | "growth" | "process", number>> = JSON.parse(output)
      assert.approximately(use.table, 28 * 2 ** 20, 2 ** 16)
      // What is left once the garbage is collected.
      assert.isBelow(use.growth, 4 * 2 ** 20)
      assert.isBelow(use.process, 160 * 2 ** 20)
    },
    Campaign.timeout
  )

  /**
   * What a hundred counters at their limits let through after a flood, in a table of 4,096. They are older than what the
   * flood brings, so that age alone would displace them.
   */
  const afterFlood = Effect.fnUntraced(function* (
    limited: (i: number) => readonly [client: string, endpoint: string],
    flood: (i: number) => readonly [client: string, endpoint: string, limit: number]
  ) {
    const store = MemoryCounters.make({ stackBlockedRequests: false, sets: 256 })
    const isAllowed = (client: string, endpoint: string, limit: number) =>
      Effect.map(countIn(store, { client, endpoint, rules: hour(limit) }), (counted) => counted!.isAllowed)
    const spend = Effect.forEach(
      Array.from({ length: 100 }, (_, i) => limited(i)),
      ([client, endpoint]) => Effect.replicateEffect(isAllowed(client, endpoint, 5), 5)
    )
    yield* spend
    yield* TestClock.adjust("1 minute")
    for (let i = 0; i < 50_000; i++) yield* isAllowed(...flood(i))
    return (yield* spend).flat().filter(Boolean).length
  })

  it.effect("keeps limited clients limited while a flood of clients passes by", () =>
    Effect.gen(function* () {
      const passed = yield* afterFlood(
        (i) => [`limited ${i}`, "post:/login"],
        (i) => [`flood ${i}`, "post:/login", 5]
      )
      assert.strictEqual(passed, 0)
    })
  )

  it.effect("keeps a limited client limited while it floods the table with endpoints", () =>
    Effect.gen(function* () {
      const passed = yield* afterFlood(
        (i) => ["limited", `post:/login/${i}`],
        (i) => ["limited", `get:/${i}`, 1]
      )
      assert.strictEqual(passed, 0)
    })
  )

  it.effect("keeps limited clients limited while a helper floods the table with full counters", () =>
    Effect.gen(function* () {
      const passed = yield* afterFlood(
        (i) => [`limited ${i}`, "post:/login"],
        (i) => ["helper", `get:/${i}`, 1]
      )
      assert.strictEqual(passed, 0)
    })
  )

  it.effect("counts newcomers in a table that is full of limited clients", () =>
    Effect.gen(function* () {
      const store = MemoryCounters.make({ stackBlockedRequests: false, sets: 256 })
      const isAllowed = (client: string) =>
        Effect.map(countIn(store, { client, endpoint: "*", rules: hour(1) }), (counted) => counted!.isAllowed)
      for (let i = 0; i < 20_000; i++) assert.isTrue(yield* isAllowed(`full ${i}`))
      assert.deepStrictEqual(yield* Effect.replicateEffect(isAllowed("newcomer"), 3), [true, false, false])
    })
  )

  it.effect("reuses the places of windows that have ended", () =>
    Effect.gen(function* () {
      const store = MemoryCounters.make({ stackBlockedRequests: false, sets: 1 })
      const count = (client: string) =>
        Effect.map(countIn(store, { client, endpoint: "*", rules: hour(5) }), (counted) => counted!.requests)
      for (let i = 0; i < 15; i++) yield* count(`old ${i}`)
      yield* TestClock.adjust("30 minutes")
      yield* Effect.replicateEffect(count("a"), 3)
      yield* TestClock.adjust("30 minutes")
      for (let i = 0; i < 15; i++) assert.strictEqual(yield* count(`new ${i}`), 1)
      assert.strictEqual(yield* count("a"), 4)
      for (let i = 0; i < 15; i++) assert.strictEqual(yield* count(`new ${i}`), 2)
    })
  )

  it.effect("opens a new window where the clock was set back", () =>
    Effect.gen(function* () {
      const store = MemoryCounters.make({ stackBlockedRequests: false })
      const count = Effect.map(
        countIn(store, { client: "a", endpoint: "*", rules: hour(1) }),
        (counted) => counted!.endsIn
      )
      yield* TestClock.setTime(10_000_000)
      yield* count
      yield* TestClock.setTime(0)
      assert.strictEqual(yield* count, 3_600_000)
    })
  )
})
