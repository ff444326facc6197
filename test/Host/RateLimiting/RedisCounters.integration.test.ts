import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { createInterface } from "node:readline"
import { afterAll, beforeAll } from "vitest"
import type { CounterStoreOptions } from "../../../src/Host/RateLimiting/CounterStore.ts"
import * as RedisCounters from "../../../src/Host/RateLimiting/RedisCounters.ts"
import { suite } from "./CounterStoreTest.ts"
import { type Limiter, make, request } from "./limiter.ts"
import * as RedisServer from "./RedisServer.ts"

const pause = (millis: number) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, millis))) // allowed: Redis has a clock of its own

/** Tests are patient with Redis where patience is not what they are about, since a busy machine may hold it up. */
const rules = (limit: number, url: string, timeout = "10s") => ({
  ipRateLimiting: { store: "redis", generalRules: [{ endpoint: "*", period: "1h", limit }] },
  redis: { url, timeout }
})

/** How a request fares: whether it was counted shows in the headers. */
const outcome = (limiter: Limiter) =>
  Effect.map(limiter.check(request("GET /")), (decision) =>
    decision.isAllowed ? (decision.headers === undefined ? "uncounted" : "counted") : "refused"
  )

/** Asks until the answer is `expected`. */
const until = <A>(effect: Effect.Effect<A>, expected: A): Effect.Effect<void> =>
  Effect.flatMap(effect, (actual) =>
    actual === expected ? Effect.void : Effect.andThen(pause(5), until(effect, expected))
  )

/** Runs a test with a Redis, and with the log that its limiters write. */
const withRedis =
  (test: (redis: RedisServer.RedisServer, log: ReadonlyArray<string>) => Effect.Effect<void, unknown, Scope.Scope>) =>
  () => {
    const log: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      log.push(`${logLevel} ${String(Array.isArray(message) ? message[0] : message).replace(/:\d+ /, " ")}`)
    })
    return Effect.flatMap(RedisServer.makeScoped, (redis) => test(redis, log)).pipe(
      Effect.provide(Logger.layer([logger]))
    )
  }

const away = "Warn Redis at 127.0.0.1 is away: requests pass without counting towards their rate limits"
const back = "Info Redis at 127.0.0.1 is back: requests count towards their rate limits again"

describe.skipIf(!RedisServer.isInstalled)("with Redis", () => {
  let shared: RedisServer.RedisServer
  beforeAll(async () => {
    shared = await RedisServer.make()
    await shared.start()
  })
  afterAll(() => shared.release())

  suite(
    "RedisCounters",
    (options: CounterStoreOptions) =>
      RedisCounters.make({
        ...options,
        url: Redacted.make(shared.url),
        prefix: "test:",
        timeout: Duration.seconds(10)
      }),
    pause
  )

  it.live(
    "three processes keep one limit between them, exactly",
    withRedis(
      Effect.fnUntraced(function* (redis) {
        yield* Effect.promise(() => redis.start())
        const instances = yield* Effect.all(Array.from({ length: 3 }, () => start(redis.url, 500, 400)))
        yield* Effect.forEach(instances, (instance) => Deferred.await(instance.ready), { concurrency: "unbounded" })
        for (const instance of instances) instance.go()
        const allowed = yield* Effect.forEach(instances, (instance) => Deferred.await(instance.allowed))
        assert.strictEqual(
          allowed.reduce((sum, each) => sum + each, 0),
          500
        )
        assert.isTrue(allowed.every((each) => each > 0))
      })
    )
  )

  it.live(
    "requests pass while Redis is killed and restarted under load",
    withRedis(
      Effect.fnUntraced(function* (redis, log) {
        yield* Effect.promise(() => redis.start())
        const limiter = yield* make(rules(1_000_000, redis.url))
        const seen = { counted: 0, uncounted: 0, refused: 0, slowest: 0 }
        const client = Effect.gen(function* () {
          const before = performance.now()
          seen[yield* outcome(limiter)]++
          seen.slowest = Math.max(seen.slowest, performance.now() - before)
          yield* Effect.promise(() => new Promise(setImmediate))
        })
        const loop = monitorEventLoopDelay({ resolution: 1 })
        loop.enable()
        yield* Effect.forkScoped(
          Effect.all(
            Array.from({ length: 20 }, () => Effect.forever(client)),
            { concurrency: 20 }
          )
        )
        for (let outage = 0; outage < 3; outage++) {
          yield* until(outcome(limiter), "counted")
          yield* Effect.promise(() => redis.kill())
          yield* until(outcome(limiter), "uncounted")
          yield* Effect.promise(() => redis.start())
        }
        yield* until(outcome(limiter), "counted")
        loop.disable()
        assert.isAbove(seen.counted, 0)
        assert.isAbove(seen.uncounted, 0)
        assert.strictEqual(seen.refused, 0)
        // What the process itself was late is not Redis's.
        assert.isBelow(seen.slowest, 50 + loop.max / 1e6)
        assert.deepStrictEqual(log, [away, back, away, back, away, back])
      })
    )
  )

  it.live(
    "requests pass within 50 ms while Redis is frozen, and wait for it but once",
    withRedis(
      Effect.fnUntraced(function* (redis, log) {
        yield* Effect.promise(() => redis.start())
        const limiter = yield* make(rules(1_000, redis.url, "40ms"))
        yield* until(outcome(limiter), "counted")
        redis.signal("SIGSTOP")
        const loop = monitorEventLoopDelay({ resolution: 1 })
        loop.enable()
        const before = performance.now()
        const outcomes = [
          ...(yield* Effect.all(
            Array.from({ length: 100 }, () => outcome(limiter)),
            { concurrency: "unbounded" }
          )),
          ...(yield* Effect.replicateEffect(outcome(limiter), 100))
        ]
        const took = performance.now() - before
        loop.disable()
        assert.deepStrictEqual(new Set(outcomes), new Set(["uncounted"]))
        // What the process itself was late is not Redis's.
        assert.isBelow(took, 50 + loop.max / 1e6)
        redis.signal("SIGCONT")
        yield* until(outcome(limiter), "counted")
        assert.deepStrictEqual(log.slice(-2), [away, back])
      })
    )
  )

  it.live(
    "a service starts without Redis, counts once it is there, and leaves no connection behind",
    withRedis(
      Effect.fnUntraced(function* (redis, log) {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const limiter = yield* make(rules(1, redis.url))
            assert.deepStrictEqual(yield* Effect.replicateEffect(outcome(limiter), 3), [
              "uncounted",
              "uncounted",
              "uncounted"
            ])
            yield* Effect.promise(() => redis.start())
            yield* until(outcome(limiter), "counted")
            assert.strictEqual(yield* outcome(limiter), "refused")
          })
        )
        const connections = Effect.map(
          Effect.promise(() => redis.send("CLIENT", "LIST")),
          (list) => String(list).trim().split("\n").length
        )
        yield* until(connections, 1)
        assert.deepStrictEqual(log, [away, back])
      })
    )
  )

  it.live(
    "a Redis that has forgotten the script learns it again",
    withRedis(
      Effect.fnUntraced(function* (redis, log) {
        yield* Effect.promise(() => redis.start())
        const limiter = yield* make(rules(2, redis.url))
        assert.strictEqual(yield* outcome(limiter), "counted")
        yield* Effect.promise(() => redis.send("SCRIPT", "FLUSH"))
        assert.strictEqual(yield* outcome(limiter), "uncounted")
        yield* until(outcome(limiter), "counted")
        assert.strictEqual(yield* outcome(limiter), "refused")
        assert.deepStrictEqual(log, [away, back])
      })
    )
  )

  it.live(
    "Redis is not away where this process is busy",
    withRedis(
      Effect.fnUntraced(function* (redis, log) {
        yield* Effect.promise(() => redis.start())
        const limiter = yield* make(rules(1_000, redis.url, "400ms"))
        const busy = Effect.sync(() => {
          const end = performance.now() + 500
          while (performance.now() < end);
        })
        for (let i = 0; i < 2; i++) {
          const outcomes = yield* Effect.all([outcome(limiter), outcome(limiter), busy], { concurrency: "unbounded" })
          assert.deepStrictEqual(outcomes, ["counted", "counted", undefined])
        }
        assert.deepStrictEqual(log, [])
      })
    )
  )

  it.live(
    "counters that an earlier version left as plain numbers do not matter",
    withRedis(
      Effect.fnUntraced(function* (redis, log) {
        yield* Effect.promise(() => redis.start())
        const prefix = "layerhost:rate-limit:"
        yield* Effect.promise(() => redis.send("SET", `${prefix}trial`, "1"))
        yield* Effect.promise(() => redis.send("SET", `${prefix}{203.0.113.7}:1h:*`, "1"))
        const limiter = yield* make(rules(2, redis.url))
        assert.strictEqual(yield* outcome(limiter), "counted")
        const keys = (yield* Effect.promise(() => redis.send("KEYS", `${prefix}*`))) as ReadonlyArray<string>
        // Were the names others, the test would show nothing.
        assert.include(keys, `${prefix}2:{203.0.113.7}:1h:*`)
        assert.deepStrictEqual(log, [])
      })
    )
  )

  it.live(
    "a Redis that lets nobody write is away",
    withRedis(
      Effect.fnUntraced(function* (redis, log) {
        yield* Effect.promise(() => redis.start())
        const limiter = yield* make(rules(1, redis.url.replace("//", "//nobody:hunter2@")))
        assert.strictEqual(yield* outcome(limiter), "uncounted")
        assert.deepStrictEqual(log, [away])
      })
    )
  )
})

const start = Effect.fnUntraced(function* (url: string, limit: number, times: number) {
  const ready = yield* Deferred.make<void>()
  const allowed = yield* Deferred.make<number>()
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(
        process.execPath,
        [join(import.meta.dirname, "RedisInstance.ts"), JSON.stringify(rules(limit, url)), String(times)],
        { stdio: ["pipe", "pipe", "inherit"] }
      )
    ),
    (child) => Effect.sync(() => child.kill())
  )
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line === "ready") Deferred.doneUnsafe(ready, Effect.void)
    else Deferred.doneUnsafe(allowed, Effect.succeed(Number(line)))
  })
  return { ready, allowed, go: () => child.stdin.end("go\n") }
})
