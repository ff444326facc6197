import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Deferred from "effect/Deferred"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Logging from "../../../src/Host/Logging/Logging.ts"
import * as LogLevels from "../../../src/Host/Logging/LogLevels.ts"
import { logged } from "./support.ts"

const messages = (output: string): ReadonlyArray<string> =>
  output
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line)["message"])

const logAll = (prefix: string) =>
  Effect.forEach(LogLevels.names, (level) => Effect.logWithLevel(LogLevels.toEffect[level])(`${prefix} ${level}`))

describe("Logging", () => {
  it.effect("writes what the level table lets through, by namespace", () =>
    Effect.gen(function* () {
      const output = yield* logged(
        Effect.andThen(logAll("app"), logAll("system").pipe(Effect.annotateLogs({ namespace: "System.Net" }))),
        { levels: { minimumLevel: "Error", override: { system: "Debug" } } }
      )
      assert.deepStrictEqual(messages(output), [
        "app Error",
        "app Fatal",
        "system Debug",
        "system Information",
        "system Warning",
        "system Error",
        "system Fatal"
      ])
    })
  )

  it.effect("replaces the loggers that were there", () =>
    Effect.gen(function* () {
      const others: Array<unknown> = []
      const output = yield* logged(Effect.logInfo("x")).pipe(
        Effect.provide(Logger.layer([Logger.make(({ message }) => void others.push(message))]))
      )
      assert.deepStrictEqual(messages(output), ["x"])
      assert.deepStrictEqual(others, [])
    })
  )

  it.effect("takes another level table at run time, also for fibers that run already", () =>
    Effect.gen(function* () {
      const output = yield* logged(
        Effect.gen(function* () {
          const logging = yield* Logging.Logging
          const changed = yield* Deferred.make<void>()
          const fiber = yield* Effect.forkChild(Effect.andThen(Deferred.await(changed), Effect.logDebug("running")), {
            startImmediately: true
          })
          yield* Effect.logDebug("before")
          yield* logging.setLevels({ minimumLevel: "Debug", override: {} })
          yield* Deferred.succeed(changed, undefined)
          yield* Fiber.join(fiber)
          yield* logging.setLevels({ minimumLevel: "Fatal", override: {} })
          yield* Effect.logError("after")
        }),
        { levels: { minimumLevel: "Information", override: {} }, floor: "Verbose" }
      )
      assert.deepStrictEqual(messages(output), ["running"])
    })
  )

  it.effect("warns of a level table that goes below the floor", () =>
    Effect.gen(function* () {
      const output = yield* logged(
        Effect.gen(function* () {
          const logging = yield* Logging.Logging
          yield* logging.setLevels({ minimumLevel: "Information", override: { orders: "Verbose" } })
          yield* logAll("orders").pipe(Effect.annotateLogs({ namespace: "orders" }))
        }),
        { levels: { minimumLevel: "Error", override: { a: "Information" } } }
      )
      assert.deepStrictEqual(messages(output), [
        "Lines below Information stay unwritten until the next start, although the level table now asks for Verbose",
        "orders Information",
        "orders Warning",
        "orders Error",
        "orders Fatal"
      ])
    })
  )

  it.effect("writes on request", () =>
    Effect.gen(function* () {
      const written: Array<string> = []
      yield* logged(
        Effect.gen(function* () {
          yield* Effect.logInfo("x")
          assert.deepStrictEqual(written, [])
          yield* (yield* Logging.Logging).flush
          assert.strictEqual(written.length, 1)
        }),
        { write: (lines) => written.push(lines) }
      )
    })
  )

  it.effect("counts the lines that it writes, by level", () =>
    Effect.gen(function* () {
      yield* logged(Effect.andThen(logAll("x"), Effect.logWarning("y")), {
        levels: { minimumLevel: "Warning", override: {} }
      })
      const counts = (yield* Metric.snapshot)
        .filter(({ id }) => id === "layerhost.log.lines")
        .map(({ attributes, state }) => [attributes?.["level"], (state as { readonly count: number }).count])
      assert.deepStrictEqual(counts, [
        ["Warning", 2],
        ["Error", 1],
        ["Fatal", 1]
      ])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("leaves no listener on the process", () =>
    Effect.gen(function* () {
      const before = process.listenerCount("exit")
      yield* logged(Effect.sync(() => assert.strictEqual(process.listenerCount("exit"), before + 1)))
      assert.strictEqual(process.listenerCount("exit"), before)
    })
  )
})
