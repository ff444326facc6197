import { assert, describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Deferred from "effect/Deferred"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/testing/TestClock"
import * as ErrorMapping from "../../src/Plugins/ErrorMapping.ts"
import * as HealthCheck from "../../src/Plugins/HealthCheck.ts"
import * as Middleware from "../../src/Plugins/Middleware.ts"
import * as Plugin from "../../src/Plugins/Plugin.ts"
import * as PluginApi from "../../src/Plugins/PluginApi.ts"
import * as Section from "../../src/Plugins/Section.ts"
import * as TestHost from "../../src/testing/TestHost.ts"
import * as TestLog from "../../src/testing/TestLog.ts"

/** What stands in the way of a start, as whoever starts the host reads it. Positions in stacks are left out. */
const report = (plugins: ReadonlyArray<Plugin.Any>, options: TestHost.TestHostOptions = {}) =>
  Effect.map(
    Effect.flip(Effect.scoped(TestHost.make(plugins, options))),
    (error) =>
      `\n${error.message.replaceAll(/\n\s+at [^\n]*/g, "\n    at …").replaceAll(/(\n    at …)+/g, "\n    at …")}\n`
  )

const ok = HttpServerResponse.text("ok")
const healthy = (name: string, tags = ["readiness"]) =>
  HealthCheck.make({ name, tags, check: Effect.succeed(HealthCheck.healthy()) })
const failing = <E>(error: E) => Layer.effectDiscard(Effect.fail(error))
const dying = (defect: unknown) => Layer.effectDiscard(Effect.die(defect))

class Refused extends Data.TaggedError("Refused") {}
class Database extends Context.Service<Database, object>()("test/Database") {}
class Unreachable extends Data.TaggedError("Unreachable")<{ readonly message: string; readonly cause?: unknown }> {}

describe("what is wrong at the start", () => {
  it.effect("tells everything at once, by plugin and phase, in the order of the phases", () =>
    Effect.gen(function* () {
      const Api = HttpApi.make("api").add(HttpApiGroup.make("items").add(HttpApiEndpoint.get("get", "/items/:item")))
      expect(
        yield* report([
          Plugin.make({ id: "twice" }),
          Plugin.fromPackage({ name: "some-package", version: "1.0.0" }, Plugin.make({ id: "twice" })),
          Plugin.make({
            id: "database",
            services: failing(
              new Unreachable({ message: "db:5432 did not answer", cause: new Error("connect ECONNREFUSED") })
            )
          }),
          Plugin.make({ id: "orders", services: Layer.effectDiscard(Effect.asVoid(Database)) as Layer.Layer<never> }),
          Plugin.make({
            id: "checks",
            healthChecks: [healthy("Orders"), healthy("orders"), healthy("MEMORY", ["liveness"]), healthy("x", ["a/b"])]
          }),
          Plugin.make({ id: "more-checks", healthChecks: Effect.fail("cannot say what it checks") }),
          Plugin.make({
            id: "middleware",
            middleware: [
              Middleware.make({ name: "fails", build: Effect.fail(new Unreachable({ message: "no key" })) }),
              Middleware.make({
                name: "throws",
                build: Effect.succeed(() => {
                  throw new TypeError("handler is odd")
                })
              })
            ]
          }),
          Plugin.make({
            id: "items",
            apis: [
              PluginApi.make(
                Api,
                HttpApiBuilder.group(Api, "items", (handlers) => handlers.handle("get", () => Effect.void))
              )
            ],
            routes: HttpRouter.add("GET", "/metrics", ok)
          }),
          Plugin.make({ id: "other-items", routes: HttpRouter.add("*", "/items/:id", ok) }),
          Plugin.make({ id: "routes", routes: failing({ code: 12 }) }),
          Plugin.make({ id: "errors", errors: [ErrorMapping.make(Unreachable, { status: 503 })] }),
          Plugin.make({
            id: "more-errors",
            errors: [
              ErrorMapping.make(Unreachable, { status: 504 }),
              ErrorMapping.make(TypeError, { status: 400 }),
              ErrorMapping.make(Refused, { status: 200 })
            ]
          })
        ])
      ).toMatchInlineSnapshot(`
        "
        The host cannot start: 15 problems.
          - plugin "twice", plugin list: the id stands 2 times (some-package, this service); list the plugin once, or give each its own id
          - plugin "database", services: Unreachable: db:5432 did not answer
            Caused by: Error: connect ECONNREFUSED
          - plugin "orders", services: needs the service test/Database, which is not there; the services of "database" failed: mend those first
          - plugin "more-checks", health checks: cannot say what it checks
          - plugin "checks", health checks: a health check named "memory" is already that of plugin "layerhost/host"; choose another name
          - plugin "checks", health checks: a health check named "Orders" is already that of plugin "checks"; choose another name
          - plugin "checks", health checks: the tag "a/b" of health check "x" cannot stand in a path; use letters, digits, "-", "_" and "."
          - plugin "middleware", middleware: Unreachable: no key
          - plugin "middleware", middleware: TypeError: handler is odd
            at …
          - plugin "more-errors", errors: Unreachable is already mapped by plugin "errors"; map it once
          - plugin "more-errors", errors: TypeError is a class of the platform, which tells of mistakes; map a class of your own
          - plugin "more-errors", errors: Refused has the status 200; expected one from 400 to 599
          - plugin "routes", routes: {"code":12}
          - plugin "items", routes: GET /metrics is already a route of plugin "layerhost/host" (GET /metrics); choose another path
          - plugin "other-items", routes: * /items/:id is already a route of plugin "items" (GET /items/:item); choose another path
        "
      `)
    })
  )

  it.effect(
    "tells route and check clashes of a plugin whose services fail, but not what follows from the failure",
    () =>
      Effect.gen(function* () {
        expect(
          yield* report([
            Plugin.make({ id: "first", healthChecks: [healthy("db")], routes: HttpRouter.add("GET", "/db", ok) }),
            Plugin.make({
              id: "second",
              services: Layer.effect(Database, Effect.fail("refused")),
              healthChecks: [healthy("db")],
              middleware: [Middleware.make({ name: "m", build: Effect.as(Database, (handler) => handler) })],
              routes: Layer.mergeAll(HttpRouter.add("GET", "/db", ok), Layer.effectDiscard(Database))
            })
          ])
        ).toMatchInlineSnapshot(`
          "
          The host cannot start: 3 problems.
            - plugin "second", services: refused
            - plugin "second", health checks: a health check named "db" is already that of plugin "first"; choose another name
            - plugin "second", routes: GET /db is already a route of plugin "first" (GET /db); choose another path
          "
        `)
      })
  )

  it.effect("names the missing service of a list that the types did not check", () =>
    Effect.gen(function* () {
      const needy = Plugin.make({ id: "needy", services: Layer.effectDiscard(Effect.asVoid(Database)) })
      expect(yield* report([needy])).toMatchInlineSnapshot(`
        "
        The host cannot start: 1 problem.
          - plugin "needy", services: needs the service test/Database, which no earlier plugin provides; list one that does before this plugin
        "
      `)
    })
  )

  it.effect("tells of sections at paths that are taken, also by the host itself", () =>
    Effect.gen(function* () {
      class Mail extends Section.Service<Mail>()("mail", { server: Schema.String }) {}
      class MailToo extends Section.Service<MailToo>()("Mail", { port: Schema.Int }) {}
      class Host extends Section.Service<Host>()("host", { name: Schema.String }) {}
      const needs = <I, A>(section: Context.Key<I, A>) => Layer.effectDiscard(Effect.asVoid(section))
      expect(
        yield* report(
          [
            Plugin.make({ id: "mail", config: [Mail], services: needs(Mail) }),
            Plugin.make({ id: "shares-it", config: [Mail], services: needs(Mail) }),
            Plugin.make({ id: "mail-too", config: [MailToo], services: needs(MailToo) }),
            Plugin.make({ id: "host", config: [Host], services: needs(Host) })
          ],
          { config: { mail: { server: "mx" } } }
        )
      ).toMatchInlineSnapshot(`
        "
        The host cannot start: 2 problems.
          - plugin "mail-too", plugin list: the configuration section "Mail" is already that of plugin "mail"; choose another path
          - plugin "host", plugin list: the configuration section "host" is already that of plugin "layerhost/host"; choose another path
        "
      `)
    })
  )

  it.effect("tells what any kind of failure is, and shows no secret", () =>
    Effect.gen(function* () {
      const kinds: Readonly<Record<string, Layer.Layer<never, unknown>>> = {
        text: failing("a text"),
        nothing: failing(undefined),
        object: failing({ _tag: "Odd", password: Redacted.make("hunter2"), token: "hunter2" }),
        silent: failing(new Unreachable({ message: "" })),
        defect: dying(new RangeError("out of range")),
        "no-error": dying("just a text"),
        thrown: Layer.sync(Database, () => {
          throw new Error("thrown")
        }),
        interrupted: Layer.effectDiscard(Effect.interrupt),
        several: Layer.effectDiscard(
          Effect.all([Effect.fail("one"), Effect.fail("two")], { concurrency: "unbounded", discard: true })
        )
      }
      const text = yield* report(
        Object.entries(kinds).map(([id, services]) => Plugin.make({ id, services: services as Layer.Layer<never> }))
      )
      assert.notInclude(text, "hunter2")
      expect(text).toMatchInlineSnapshot(`
        "
        The host cannot start: 9 problems.
          - plugin "text", services: a text
          - plugin "nothing", services: undefined
          - plugin "object", services: {"_tag":"Odd","password":"<redacted>","token":"<redacted>"}
          - plugin "silent", services: Unreachable
          - plugin "defect", services: RangeError: out of range
            at …
          - plugin "no-error", services: just a text
          - plugin "thrown", services: Error: thrown
            at …
          - plugin "interrupted", services: was interrupted, by nobody but itself
          - plugin "several", services: one
        "
      `)
    })
  )

  it.effect("warns of a plugin that is not done building, and can be interrupted then", () =>
    Effect.gen(function* () {
      const log = TestLog.make()
      const isBuilding = yield* Deferred.make<void>()
      const events: Array<string> = []
      const resource = (name: string) =>
        Layer.effectDiscard(Effect.acquireRelease(Effect.void, () => Effect.sync(() => events.push(name))))
      const fiber = yield* Effect.forkChild(
        Effect.scoped(
          TestHost.make(
            [
              Plugin.make({ id: "first", services: resource("first") }),
              Plugin.make({
                id: "stuck",
                services: Layer.effectDiscard(
                  Effect.andThen(Deferred.succeed(isBuilding, undefined), Effect.never)
                ).pipe(Layer.provide(resource("stuck")))
              })
            ],
            { log }
          )
        )
      )
      yield* Deferred.await(isBuilding)
      yield* TestClock.adjust("10 seconds")
      const warnings = (yield* log.lines).filter(({ level }) => level === "Warning").map(({ message }) => message)
      assert.deepStrictEqual(warnings, ["Plugin stuck: its services are still being built after 10 seconds"])
      yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.deepStrictEqual(events, ["stuck", "first"])
    })
  )

  it.effect("tells the configuration errors of all plugins before it builds any", () =>
    Effect.gen(function* () {
      let builds = 0
      class Mail extends Section.Service<Mail>()("mail", { server: Schema.String }) {}
      class Limits extends Section.Service<Limits>()("limits", { max: Schema.Int }) {}
      const services = Layer.effectDiscard(Effect.sync(() => builds++))
      expect(
        yield* report(
          [
            Plugin.make({ id: "mail", config: [Mail], services }),
            Plugin.make({ id: "shares-it", config: [Mail], services }),
            Plugin.make({ id: "limits", config: [Limits], services })
          ],
          { config: { limits: { max: "many" } } }
        )
      ).toMatchInlineSnapshot(`
        "
        2 configuration errors:
          mail:server: is not set, and has no default
              (plugin mail)
          limits:max: expected a number, found "many"
              from values of the program (plugin limits)
        "
      `)
      assert.strictEqual(builds, 0)
    })
  )
})
