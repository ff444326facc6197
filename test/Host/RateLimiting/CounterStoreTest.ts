/** What every store of counters does, as a suite. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Count, Counted, CounterStore, CounterStoreOptions } from "../../../src/Host/RateLimiting/CounterStore.ts"

/** Names the clients of a test, so that tests do not meet in a store that they share. */
let tests = 0

/** Runs the suite. `pass` lets at least so much time pass, on the clock of the store. */
export const suite = (
  name: string,
  make: (options: CounterStoreOptions) => Effect.Effect<CounterStore, never, Scope.Scope>,
  pass: (millis: number) => Effect.Effect<void>
) =>
  describe(name, () => {
    const rule = (limit: number, periodMillis = 60_000) => ({ period: `${periodMillis}ms`, periodMillis, limit })

    const open = Effect.fnUntraced(function* (stackBlockedRequests = false) {
      const store = yield* make({ stackBlockedRequests })
      const run = `${process.pid}-${tests++}`
      return (client: string, endpoint: string, ...rules: ReadonlyArray<ReturnType<typeof rule>>) =>
        Effect.map(countIn(store, { client: `${run}-${client}`, endpoint, rules }), (count) =>
          count === undefined
            ? "away"
            : `${count.isAllowed ? "allowed" : "refused"} ${count.requests} of ${count.rule.limit}`
        )
    })

    it.effect("counts to the limit, and not beyond", () =>
      Effect.gen(function* () {
        const count = yield* open()
        assert.deepStrictEqual(yield* Effect.replicateEffect(count("a", "*", rule(2)), 4), [
          "allowed 1 of 2",
          "allowed 2 of 2",
          "refused 2 of 2",
          "refused 2 of 2"
        ])
      })
    )

    it.effect("counts clients, endpoints and periods apart", () =>
      Effect.gen(function* () {
        const count = yield* open()
        assert.strictEqual(yield* count("a", "get:/", rule(1)), "allowed 1 of 1")
        assert.strictEqual(yield* count("b", "get:/", rule(1)), "allowed 1 of 1")
        assert.strictEqual(yield* count("a", "put:/", rule(1)), "allowed 1 of 1")
        assert.strictEqual(yield* count("a", `get:/${"long".repeat(500)}`, rule(1)), "allowed 1 of 1")
        assert.strictEqual(yield* count("a", "get:/", rule(1, 61_000)), "allowed 1 of 1")
        assert.strictEqual(yield* count("a", "get:/", rule(1)), "refused 1 of 1")
      })
    )

    it.effect("tells of the longest period where it allows", () =>
      Effect.gen(function* () {
        const count = yield* open()
        assert.strictEqual(yield* count("a", "*", rule(5), rule(9, 120_000)), "allowed 1 of 9")
      })
    )

    it.effect("tells of the window that ends last where it refuses", () =>
      Effect.gen(function* () {
        const count = yield* open()
        yield* Effect.replicateEffect(count("a", "*", rule(2), rule(2, 120_000), rule(9, 180_000)), 2)
        assert.strictEqual(yield* count("a", "*", rule(2), rule(2, 120_000), rule(9, 180_000)), "refused 2 of 2")
        assert.strictEqual(yield* count("a", "*", rule(2), rule(3, 120_000), rule(9, 180_000)), "refused 2 of 2")
        assert.strictEqual(yield* count("a", "*", rule(3), rule(3, 120_000), rule(9, 180_000)), "allowed 3 of 9")
      })
    )

    it.effect("counts a refused request in no window, nor opens one", () =>
      Effect.gen(function* () {
        const count = yield* open()
        yield* count("a", "*", rule(1))
        assert.strictEqual(yield* count("a", "*", rule(1), rule(9, 120_000)), "refused 1 of 1")
        assert.strictEqual(yield* count("a", "*", rule(9, 120_000)), "allowed 1 of 9")
      })
    )

    it.effect("counts a refused request in all windows when stacked", () =>
      Effect.gen(function* () {
        const count = yield* open(true)
        yield* count("a", "*", rule(1))
        assert.strictEqual(yield* count("a", "*", rule(1), rule(9, 120_000)), "refused 2 of 1")
        assert.strictEqual(yield* count("a", "*", rule(9, 120_000)), "allowed 2 of 9")
      })
    )

    it.effect("tells the same end of a window to all its requests", () =>
      Effect.gen(function* () {
        const store = yield* make({ stackBlockedRequests: false })
        const count = countIn(store, {
          client: `${process.pid}-${tests++}`,
          endpoint: "*",
          rules: [rule(9), rule(3, 120_000)]
        })
        const first = (yield* count)!
        yield* pass(3)
        const later = [(yield* count)!, (yield* count)!, (yield* count)!]
        assert.deepStrictEqual(
          later.map(({ endsAt, isAllowed }) => [isAllowed, endsAt]),
          [true, true, false].map((isAllowed) => [isAllowed, first.endsAt])
        )
        for (const { endsIn } of later) assert.isAtMost(endsIn, first.endsIn - 3)
      })
    )

    it.effect("starts a window at the first request, and another one after its end", () =>
      Effect.gen(function* () {
        const count = yield* open()
        const short = rule(2, 1_000)
        assert.strictEqual(yield* count("a", "*", short), "allowed 1 of 2")
        assert.strictEqual(yield* count("a", "*", short, rule(9)), "allowed 1 of 9")
        assert.strictEqual(yield* count("a", "*", short, rule(9)), "refused 2 of 2")
        yield* pass(1_000)
        assert.strictEqual(yield* count("a", "*", short, rule(9)), "allowed 2 of 9")
        assert.strictEqual(yield* count("a", "*", short), "allowed 2 of 2")
      })
    )
  })

/** Counts by the clock of the test. */
export const countIn = (store: CounterStore, counted: Counted): Effect.Effect<Count | undefined> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => store.count(counted, now))
