import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Layer from "effect/Layer"
import * as HealthChecks from "../../../src/Host/Health/HealthChecks.ts"
import * as HealthRoutes from "../../../src/Host/Health/HealthRoutes.ts"
import type { RegisteredCheck } from "../../../src/Host/Health/RegisteredCheck.ts"
import * as HealthCheck from "../../../src/Plugins/HealthCheck.ts"

const check = (name: string, tags: ReadonlyArray<string>, result: HealthCheck.HealthCheck["check"]) => ({
  check: HealthCheck.make({ name, tags, check: result }),
  plugin: "app"
})

const healthy = Effect.succeed(HealthCheck.healthy())

/** Serves the health endpoints of the checks on a loopback socket, and gives the test a client of it. */
const serve = (checks: ReadonlyArray<RegisteredCheck>, shuttingDown: Effect.Effect<boolean> = Effect.succeed(false)) =>
  HttpRouter.serve(
    HttpRouter.use((router) =>
      Effect.flatMap(HealthChecks.make(checks), (checks) => router.addAll(HealthRoutes.make(checks, shuttingDown)))
    ),
    { disableLogger: true, disableListenLog: true }
  ).pipe(Layer.provideMerge(NodeHttpServer.layerTest))

const get = Effect.fnUntraced(function* (path: string) {
  const response = yield* HttpClient.get(path)
  return { status: response.status, headers: response.headers, text: yield* response.text }
})

/** The parts of a report that do not depend on the clock. */
const verdicts = (text: string) => {
  const report = JSON.parse(text)
  return [report.status, report.entries.map((entry: { name: string; status: string }) => [entry.name, entry.status])]
}

describe("HealthRoutes", () => {
  it.effect("answers with the report of the group as JSON that is not to be stored", () =>
    Effect.gen(function* () {
      const { status, headers, text } = yield* get("/health/liveness")
      assert.strictEqual(status, 200)
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers["cache-control"], "no-store")
      assert.deepStrictEqual(JSON.parse(text), {
        status: "Healthy",
        totalDuration: "00:00:00.000",
        entries: [
          {
            name: "api",
            status: "Healthy",
            description: null,
            tags: ["liveness"],
            duration: "00:00:00.000",
            exceptionMessage: null
          }
        ]
      })
    }).pipe(
      Effect.provide(
        serve([check("api", ["liveness"], healthy), check("db", ["readiness"], Effect.die("must not run"))])
      )
    )
  )

  it.effect("gives every tag its endpoint, and no other path", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(verdicts((yield* get("/health/Storage")).text), ["Healthy", [["b", "Healthy"]]])
      assert.deepStrictEqual(verdicts((yield* get("/health/liveness")).text), ["Healthy", []])
      assert.strictEqual((yield* get("/health/unknown")).status, 404)
      assert.strictEqual((yield* get("/health")).status, 404)
      assert.strictEqual((yield* HttpClient.post("/health/storage")).status, 404)
    }).pipe(Effect.provide(serve([check("a", ["readiness", "db"], healthy), check("b", ["DB", "Storage"], healthy)])))
  )

  it.effect("is 200 while healthy or degraded, 503 when unhealthy", () =>
    Effect.gen(function* () {
      const degraded = yield* get("/health/degraded")
      assert.strictEqual(degraded.status, 200)
      assert.strictEqual(JSON.parse(degraded.text).status, "Degraded")
      const unhealthy = yield* get("/health/unhealthy")
      assert.strictEqual(unhealthy.status, 503)
      assert.strictEqual(unhealthy.headers["cache-control"], "no-store")
      assert.strictEqual(JSON.parse(unhealthy.text).entries[0].exceptionMessage, "refused")
    }).pipe(
      Effect.provide(
        serve([
          check("slow", ["degraded"], Effect.succeed(HealthCheck.degraded("slow"))),
          check("gone", ["unhealthy"], Effect.fail(new Error("refused")))
        ])
      )
    )
  )

  it.effect("answers HEAD with the status alone", () =>
    Effect.gen(function* () {
      const response = yield* HttpClient.head("/health/readiness")
      assert.strictEqual(response.status, 503)
      assert.strictEqual(response.headers["cache-control"], "no-store")
      assert.strictEqual(yield* response.text, "")
    }).pipe(Effect.provide(serve([check("db", ["readiness"], Effect.fail("refused"))])))
  )

  it.effect("fails readiness alone once the host shuts down, in a run that began before too", () =>
    Effect.gen(function* () {
      let isDown = false
      const started = yield* Deferred.make<void>()
      const open = yield* Deferred.make<void>()
      const gate = Effect.as(
        Effect.andThen(Deferred.succeed(started, undefined), Deferred.await(open)),
        HealthCheck.healthy()
      )
      yield* Effect.gen(function* () {
        const probe = yield* Effect.forkChild(get("/health/readiness"))
        yield* Deferred.await(started)
        isDown = true
        yield* Deferred.succeed(open, undefined)
        const { status, text } = yield* Fiber.join(probe)
        assert.strictEqual(status, 503)
        assert.deepStrictEqual(verdicts(text), [
          "Unhealthy",
          [
            ["db", "Healthy"],
            ["host", "Unhealthy"]
          ]
        ])
        assert.deepInclude(JSON.parse(text).entries[1], {
          description: "The host is shutting down.",
          tags: ["readiness"]
        })
        assert.strictEqual((yield* get("/health/liveness")).status, 200)

        isDown = false
        assert.strictEqual((yield* get("/health/readiness")).status, 200)
      }).pipe(
        Effect.provide(
          serve(
            [check("db", ["readiness"], gate), check("api", ["liveness"], healthy)],
            Effect.sync(() => isDown)
          )
        )
      )
    })
  )

  it.effect("a client that hangs up stops its run", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const gate = Deferred.succeed(started, undefined).pipe(
        Effect.andThen(Effect.never),
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
      yield* Effect.gen(function* () {
        const probe = yield* Effect.forkChild(get("/health/readiness"))
        yield* Deferred.await(started)
        yield* Fiber.interrupt(probe)
        yield* Deferred.await(stopped)
      }).pipe(Effect.provide(serve([check("db", ["readiness"], gate)])))
    })
  )
})
