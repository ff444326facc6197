import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import * as Host from "../../src/Host/Host.ts"
import * as Middleware from "../../src/Plugins/Middleware.ts"
import * as Plugin from "../../src/Plugins/Plugin.ts"
import * as Task from "../../src/Plugins/Task.ts"
import * as TestHost from "../../src/testing/TestHost.ts"
import * as TestLog from "../../src/testing/TestLog.ts"

/** Notes when it is built and when it is released. */
const resource = (name: string, events: Array<string>) =>
  Layer.effectDiscard(
    Effect.acquireRelease(
      Effect.sync(() => events.push(`+${name}`)),
      () => Effect.sync(() => events.push(`-${name}`))
    )
  )

/** Opens a scope that the test closes itself. */
const openScope = Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))

describe("release", () => {
  it.effect("answers requests in flight, then interrupts the tasks, then releases all in reverse order", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const isWorking = yield* Deferred.make<void>()
      const mayAnswer = yield* Deferred.make<void>()
      const scope = yield* openScope
      const { log, request } = yield* TestHost.make(
        [
          Plugin.make({ id: "app", services: resource("app", events), routes: resource("app routes", events) }),
          Plugin.make({
            id: "layerhost/first",
            services: resource("framework", events),
            middleware: [
              Middleware.make({
                name: "m",
                build: Effect.as(Layer.build(resource("middleware", events)), (handler) => handler)
              })
            ],
            tasks: [
              Task.make(
                "t",
                Effect.onInterrupt(Effect.never, () => Effect.sync(() => events.push("task interrupted")))
              )
            ]
          }),
          Plugin.make({
            id: "slow",
            services: resource("slow", events),
            routes: HttpRouter.add(
              "GET",
              "/slow",
              Effect.gen(function* () {
                yield* Deferred.succeed(isWorking, undefined)
                yield* Deferred.await(mayAnswer)
                events.push("answered")
                return HttpServerResponse.text("done")
              })
            )
          })
        ],
        { listen: true }
      ).pipe(Scope.provide(scope))
      const answer = yield* Effect.forkChild(request("/slow"))
      yield* Deferred.await(isWorking)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* log.waitFor("Shutting down")
      yield* Deferred.succeed(mayAnswer, undefined)
      const { headers, status, text } = yield* Fiber.join(answer)
      assert.deepStrictEqual([status, text, headers.get("connection")], [200, "done", "close"])
      yield* Fiber.join(closing)
      assert.deepStrictEqual(events, [
        "+framework",
        "+app",
        "+slow",
        "+middleware",
        "+app routes",
        "answered",
        "task interrupted",
        "-app routes",
        "-middleware",
        "-slow",
        "-app",
        "-framework"
      ])
    })
  )

  it.effect("interrupts a request that outlasts the shutdown timeout, before it releases anything", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const isWorking = yield* Deferred.make<void>()
      const scope = yield* openScope
      const { log, request } = yield* TestHost.make(
        [
          Plugin.make({
            id: "stuck",
            services: resource("service", events),
            routes: HttpRouter.add(
              "GET",
              "/stuck",
              Effect.andThen(Deferred.succeed(isWorking, undefined), Effect.never).pipe(
                Effect.onInterrupt(() => Effect.sync(() => events.push("request interrupted")))
              )
            )
          })
        ],
        { listen: true, config: { host: { shutdownTimeout: "3 seconds" } } }
      ).pipe(Scope.provide(scope))
      const answer = yield* Effect.forkChild(request("/stuck"))
      yield* Deferred.await(isWorking)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* log.waitFor("Shutting down")
      while (closing.pollUnsafe() === undefined) {
        yield* TestClock.adjust("1 second")
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      }
      assert.strictEqual((yield* Fiber.join(answer)).status, 503)
      assert.deepStrictEqual(events, ["+service", "request interrupted", "-service"])
    })
  )

  it.effect("fails readiness and still takes requests during the shutdown delay", () =>
    Effect.gen(function* () {
      const scope = yield* openScope
      const { log, request } = yield* TestHost.make([], {
        listen: true,
        config: { host: { shutdownDelay: "5 seconds" } }
      }).pipe(Scope.provide(scope))
      assert.strictEqual((yield* request("/health/readiness")).status, 200)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* log.waitFor("Shutting down")
      assert.strictEqual((yield* request("/health/readiness")).status, 503)
      assert.strictEqual((yield* request("/health/liveness")).status, 200)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(closing)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(request("/health/liveness"))))
    })
  )

  it.effect("releases what was built when a later plugin fails, and starts nothing of the others", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const failing = Layer.effectDiscard(Effect.fail("broken")).pipe(Layer.provide(resource("half", events)))
      const exit = yield* Effect.exit(
        Effect.scoped(
          TestHost.make(
            [
              Plugin.make({
                id: "first",
                services: resource("first", events),
                tasks: [
                  Task.make(
                    "t",
                    Effect.sync(() => events.push("task"))
                  )
                ]
              }),
              Plugin.make({ id: "broken", services: failing }),
              Plugin.make({ id: "last", services: resource("last", events) })
            ],
            { listen: true }
          )
        )
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(events, ["+first", "+half", "-half", "+last", "-last", "-first"])
    })
  )

  it.effect("releases everything when an address is taken, and starts no task", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const blocker = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = createServer().listen(0, "127.0.0.1")
          await once(server, "listening")
          return server
        }),
        (server) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
      )
      const { port } = blocker.address() as AddressInfo
      const plugin = Plugin.make({
        id: "first",
        services: resource("first", events),
        tasks: [
          Task.make(
            "t",
            Effect.sync(() => events.push("task"))
          )
        ]
      })
      const error = yield* Effect.flip(
        Effect.scoped(
          TestHost.make([plugin], {
            listen: true,
            config: { host: { urls: `http://127.0.0.1:0,http://127.0.0.1:${port}` } }
          })
        )
      )
      assert.strictEqual(error._tag, "ListenError")
      assert.include(error.message, `http://127.0.0.1:${port}: `)
      assert.deepStrictEqual(events, ["+first", "-first"])
    })
  )

  it.effect("goes on when a finalizer dies, lets it log, and tells of it at the end", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const log = TestLog.make()
      const dies = Layer.effectDiscard(
        Effect.addFinalizer(() => Effect.andThen(Effect.log("last words"), Effect.die(new Error("cannot let go"))))
      )
      const exit = yield* Effect.exit(
        Effect.scoped(
          TestHost.make(
            [
              Plugin.make({ id: "first", services: resource("first", events) }),
              Plugin.make({ id: "dies", services: dies }),
              Plugin.make({ id: "last", services: resource("last", events) })
            ],
            { log }
          )
        )
      )
      assert.deepStrictEqual(events, ["+first", "+last", "-last", "-first"])
      assert.deepStrictEqual(yield* log.messages("dies"), ["last words"])
      const error = (yield* log.lines).find(({ level }) => level === "Error")
      assert.deepStrictEqual([error?.message, error?.error], ["Not everything could be released", "cannot let go"])
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    })
  )
})

describe("tasks", () => {
  it.effect("start once the host listens", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const { host, log } = yield* TestHost.make([
        Plugin.make({ id: "p", tasks: [Task.make("t", Deferred.succeed(started, undefined))] })
      ])
      yield* log.lines
      assert.isFalse(yield* Deferred.isDone(started))
      yield* host.listen
      yield* Deferred.await(started)
    })
  )

  it.effect("are logged when they fail, whatever the way, and leave the host alone", () =>
    Effect.gen(function* () {
      const { log, request } = yield* TestHost.make(
        [
          Plugin.make({
            id: "p",
            tasks: [
              Task.make("fails", Effect.fail("refused")),
              Task.make("dies", Effect.die(new Error("a bug"))),
              Task.make(
                "throws",
                Effect.sync(() => {
                  throw new Error("thrown")
                })
              ),
              Task.make("interrupts itself", Effect.interrupt),
              Task.make("ends", Effect.void)
            ]
          })
        ],
        { listen: true }
      )
      yield* log.waitFor("Task ends has ended")
      const lines = (yield* log.lines).filter(({ namespace }) => namespace === "p")
      assert.deepStrictEqual(
        lines.map(({ error, level, message }) => [level, message, error]),
        [
          ["Error", "Task fails failed", "refused"],
          ["Error", "Task dies failed", "a bug"],
          ["Error", "Task throws failed", "thrown"],
          ["Error", "Task interrupts itself failed", "The work was interrupted"],
          ["Debug", "Task ends has ended", undefined]
        ]
      )
      assert.strictEqual((yield* request("/health/readiness")).status, 200)
    })
  )

  it.effect("have their plugin's services, and a scope that ends with them", () =>
    Effect.gen(function* () {
      class Queue extends Context.Service<Queue, { readonly name: string }>()("test/Queue") {}
      const events: Array<string> = []
      const { log } = yield* TestHost.make(
        [
          Plugin.make({
            id: "p",
            services: Layer.succeed(Queue, { name: "q" }),
            tasks: [
              Task.make(
                "t",
                Effect.flatMap(Queue, ({ name }) => Layer.build(resource(name, events)))
              )
            ]
          })
        ],
        { listen: true }
      )
      yield* log.waitFor("Task t has ended")
      assert.deepStrictEqual(events, ["+q", "-q"])
    })
  )

  it.effect("are not called failed when the host stops", () =>
    Effect.gen(function* () {
      const log = TestLog.make()
      yield* Effect.scoped(
        TestHost.make(
          [
            Plugin.make({ id: "p", tasks: [Task.make("t", Effect.never), Task.make("u", Effect.scoped(Effect.never))] })
          ],
          { listen: true, log }
        )
      )
      assert.deepStrictEqual(yield* log.messages("p"), [])
    })
  )
})

describe("HostLive", () => {
  it.effect("listens for as long as it lives, and says where", () =>
    Effect.gen(function* () {
      const plugin = Plugin.make({ id: "p", routes: HttpRouter.add("GET", "/", HttpServerResponse.text("here")) })
      const [url] = yield* Effect.gen(function* () {
        const { addresses, plugins } = yield* Host.Host
        assert.deepStrictEqual(plugins, ["p"])
        assert.strictEqual(
          yield* Effect.promise(() => fetch(addresses[0]!).then((response) => response.text())),
          "here"
        )
        return addresses
      }).pipe(
        Effect.provide(
          Host.HostLive([plugin], { configuration: { values: { "host:urls": "http://127.0.0.1:0" } }, log: () => {} })
        )
      )
      const refused = yield* Effect.promise(() => fetch(url!).catch((error: TypeError) => error.message))
      assert.strictEqual(refused, "fetch failed")
    })
  )
})
