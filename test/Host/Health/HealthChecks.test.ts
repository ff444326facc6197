import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as HealthChecks from "../../../src/Host/Health/HealthChecks.ts"
import * as HealthReport from "../../../src/Host/Health/HealthReport.ts"
import * as HealthCheck from "../../../src/Plugins/HealthCheck.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", {}) {}

const register = (
  name: string,
  check: HealthCheck.HealthCheck["check"],
  options: { readonly tags?: ReadonlyArray<string>; readonly timeout?: Duration.Input } = {}
) => ({ check: HealthCheck.make({ name, tags: ["ready"], check, ...options }), plugin: "app" })

const ok = Effect.succeed(HealthCheck.healthy())

const runOnly = (check: HealthCheck.HealthCheck["check"]) =>
  Effect.gen(function* () {
    const checks = yield* HealthChecks.make([register("only", check)])
    const report = yield* checks.run("ready")
    return report.entries[0]!
  })

/** A check that says when it has started and when it was interrupted, and ends when it is told to. */
const makeGate = Effect.gen(function* () {
  const started = yield* Deferred.make<void>()
  const interrupted = yield* Deferred.make<void>()
  const open = yield* Deferred.make<HealthCheck.HealthCheckResult>()
  let runs = 0
  const check = Effect.suspend(() => {
    runs++
    return Deferred.succeed(started, undefined)
  }).pipe(
    Effect.andThen(Deferred.await(open)),
    Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
  )
  return { check, started, interrupted, open, runs: () => runs }
})

/** Lets every fiber go as far as it can without time passing. */
const settled = TestClock.adjust(0)

describe("HealthChecks", () => {
  it.effect("runs side by side, times each check, and keeps the order of registration", () =>
    Effect.gen(function* () {
      const checks = yield* HealthChecks.make([
        register("slow", Effect.delay(ok, "3 seconds")),
        register("quick", ok),
        register("middle", Effect.delay(Effect.succeed(HealthCheck.degraded("late")), "2 seconds"))
      ])
      const fiber = yield* Effect.forkChild(checks.run("ready"))
      yield* TestClock.adjust("3 seconds")
      const report = HealthReport.toJson(yield* Fiber.join(fiber))
      assert.strictEqual(report.status, "Degraded")
      assert.strictEqual(report.totalDuration, "00:00:03.000")
      assert.deepStrictEqual(
        report.entries.map(({ name, duration, description }) => [name, duration, description]),
        [
          ["slow", "00:00:03.000", null],
          ["quick", "00:00:00.000", null],
          ["middle", "00:00:02.000", "late"]
        ]
      )
    })
  )

  it.effect("runs the checks of a tag alone, whatever the tag's case", () =>
    Effect.gen(function* () {
      const checks = yield* HealthChecks.make([
        register("a", ok, { tags: ["Ready", "db"] }),
        register("b", Effect.die("must not run"), { tags: ["live"] }),
        register("c", ok, { tags: ["READY"] })
      ])
      assert.deepStrictEqual([...checks.tags], ["ready", "db", "live"])
      const report = yield* checks.run("readY")
      assert.deepStrictEqual(
        report.entries.map(({ name, tags }) => [name, tags]),
        [
          ["a", ["Ready", "db"]],
          ["c", ["READY"]]
        ]
      )
      assert.deepStrictEqual(HealthReport.toJson(yield* checks.run("nobody")), {
        status: "Healthy",
        totalDuration: "00:00:00.000",
        entries: []
      })
    })
  )

  it.effect("a check that hangs times out after five seconds, or its own limit, and holds up nobody", () =>
    Effect.gen(function* () {
      const gate = yield* makeGate
      const checks = yield* HealthChecks.make([
        register("hangs", gate.check),
        register("hangs longer", Effect.never, { timeout: "7 seconds" }),
        register("hangs hard", Effect.uninterruptible(Effect.never), { timeout: 1500 }),
        register("fine", ok)
      ])
      const fiber = yield* Effect.forkChild(checks.run("ready"))
      yield* TestClock.adjust("5 seconds")
      yield* Deferred.await(gate.interrupted)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      const report = HealthReport.toJson(yield* Fiber.join(fiber))
      assert.strictEqual(report.totalDuration, "00:00:07.000")
      assert.deepStrictEqual(
        report.entries.map(({ status, duration, description, exceptionMessage }) => [
          status,
          duration,
          description,
          exceptionMessage
        ]),
        [
          ["Unhealthy", "00:00:05.000", "The check timed out after 5s.", null],
          ["Unhealthy", "00:00:07.000", "The check timed out after 7s.", null],
          ["Unhealthy", "00:00:01.500", "The check timed out after 1s 500ms.", null],
          ["Healthy", "00:00:00.000", null, null]
        ]
      )
    })
  )

  it.effect.each<[string, HealthCheck.HealthCheck["check"], string]>([
    ["fails with an error", Effect.fail(new Error("refused")), "refused"],
    ["fails with a tagged error without a message", Effect.fail(new Refused()), "Refused"],
    ["fails with text", Effect.fail("refused"), "refused"],
    ["fails with a value", Effect.fail({ password: "s3cret" }), "The check failed without a message."],
    ["fails with nothing", Effect.fail(undefined), "The check failed without a message."],
    ["fails with a redacted value", Effect.fail(Redacted.make("s3cret")), "The check failed without a message."],
    [
      "fails with an error that names a redacted value",
      Effect.fail(new Error(`not ${Redacted.make("s3cret")}`)),
      "not <redacted>"
    ],
    ["dies", Effect.die(new Error("bug")), "bug"],
    [
      "throws",
      Effect.sync(() => {
        throw new TypeError("thrown")
      }),
      "thrown"
    ],
    ["interrupts itself", Effect.interrupt, "The check was interrupted."]
  ])("a check that %s is Unhealthy with the message alone", ([, check, message]) =>
    Effect.gen(function* () {
      const entry = yield* runOnly(check)
      assert.strictEqual(entry.status, "Unhealthy")
      assert.strictEqual(entry.exceptionMessage, message)
      assert.isNull(entry.description)
    })
  )

  it.effect("a check that returns nothing is Unhealthy", () =>
    Effect.gen(function* () {
      const entry = yield* runOnly(Effect.succeed(undefined as unknown as HealthCheck.HealthCheckResult))
      assert.strictEqual(entry.status, "Unhealthy")
      assert.isNotNull(entry.exceptionMessage)
    })
  )

  it.effect("calls that overlap share one run; the next call starts another", () =>
    Effect.gen(function* () {
      const gate = yield* makeGate
      const checks = yield* HealthChecks.make([register("gate", gate.check)])
      const fibers = yield* Effect.forEach([1, 2, 3], () =>
        Effect.forkChild(checks.run("ready"), { startImmediately: true })
      )
      yield* Deferred.await(gate.started)
      yield* Deferred.succeed(gate.open, HealthCheck.healthy("shared"))
      const reports = yield* Effect.forEach(fibers, Fiber.join)
      assert.strictEqual(gate.runs(), 1)
      assert.isTrue(reports.every((report) => report === reports[0]))
      yield* checks.run("ready")
      assert.strictEqual(gate.runs(), 2)
    })
  )

  it.effect("a caller that is interrupted leaves the run to the others; the last one stops it", () =>
    Effect.gen(function* () {
      const gate = yield* makeGate
      const checks = yield* HealthChecks.make([register("gate", gate.check)])
      const call = Effect.forkChild(checks.run("ready"), { startImmediately: true })
      const first = yield* call
      const second = yield* call
      yield* settled
      assert.isTrue(yield* Deferred.isDone(gate.started))

      yield* Fiber.interrupt(first)
      yield* settled
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(first)))
      assert.isFalse(yield* Deferred.isDone(gate.interrupted))

      const third = yield* call
      yield* Fiber.interrupt(second)
      yield* settled
      assert.strictEqual(gate.runs(), 1)
      assert.isFalse(yield* Deferred.isDone(gate.interrupted))

      yield* Fiber.interrupt(third)
      yield* Deferred.await(gate.interrupted)

      yield* Deferred.succeed(gate.open, HealthCheck.healthy())
      assert.strictEqual((yield* checks.run("ready")).status, "Healthy")
      assert.strictEqual(gate.runs(), 2)
    })
  )

  it.effect("a run ends with the scope, and so do its checks", () =>
    Effect.gen(function* () {
      const gate = yield* makeGate
      const scope = yield* Scope.make()
      const checks = yield* Scope.provide(HealthChecks.make([register("gate", gate.check)]), scope)
      const call = yield* Effect.forkChild(checks.run("ready"), { startImmediately: true })
      yield* Deferred.await(gate.started)
      yield* Scope.close(scope, Exit.void)
      yield* Deferred.await(gate.interrupted)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(call)))
    })
  )

  it.effect("logs a change once: for the worse as a warning, for the better as information", () =>
    Effect.gen(function* () {
      const lines: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message, fiber }) => {
        lines.push([logLevel, fiber.getRef(References.CurrentLogAnnotations)["namespace"], message])
      })
      let check: HealthCheck.HealthCheck["check"] = ok
      const checks = yield* HealthChecks.make([
        register(
          "db",
          Effect.suspend(() => check)
        )
      ])
      const probe = (next: HealthCheck.HealthCheck["check"]) =>
        Effect.suspend(() => {
          check = next
          return checks.run("ready")
        }).pipe(Effect.provide(Logger.layer([logger])))

      yield* probe(ok)
      yield* probe(ok)
      assert.deepStrictEqual(lines, [])
      yield* probe(Effect.succeed(HealthCheck.degraded("slow")))
      yield* probe(Effect.succeed(HealthCheck.degraded("slow")))
      yield* probe(Effect.fail(new Error("refused")))
      yield* probe(Effect.fail(new Error("refused")))
      yield* probe(ok)
      yield* probe(ok)
      const start = 'Health check "db" of plugin "app" went from'
      assert.deepStrictEqual(lines, [
        ["Warn", "layerhost.health", [`${start} Healthy to Degraded: slow`]],
        ["Warn", "layerhost.health", [`${start} Degraded to Unhealthy: refused`]],
        ["Info", "layerhost.health", [`${start} Unhealthy to Healthy`]]
      ])
    })
  )

  it.effect("measures what each check found last", () =>
    Effect.gen(function* () {
      const results = [HealthCheck.healthy(), HealthCheck.degraded(""), HealthCheck.unhealthy("")]
      const checks = yield* HealthChecks.make(results.map((result) => register(result.status, Effect.succeed(result))))
      yield* checks.run("ready")
      const values = (yield* Metric.snapshot).map(({ id, attributes, state }) => [id, attributes, state])
      assert.sameDeepMembers(values, [
        ["layerhost.health.status", { check: "Healthy" }, { value: 1 }],
        ["layerhost.health.status", { check: "Degraded" }, { value: 0.5 }],
        ["layerhost.health.status", { check: "Unhealthy" }, { value: 0 }]
      ])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})
