/** What docs/how-to.md shows, run. */
import { assert, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as TestClock from "effect/testing/TestClock"
import { Middleware, Plugin, Task } from "layerhost"
import { replace, TestHost } from "layerhost/testing"

const sent: Array<string> = []

class Mailer extends Context.Service<Mailer, { readonly send: (text: string) => Effect.Effect<string> }>()("Mailer") {
  static readonly layer = Layer.succeed(Mailer, {
    send: (text) => Effect.sync(() => (sent.push(text), "sent"))
  })
}

const sweep = Task.make("sweep", Effect.log("swept").pipe(Effect.repeat(Schedule.spaced("1 hour"))))

const audit = Middleware.make({
  name: "audit",
  order: 10,
  build: Effect.map(
    Mailer,
    ({ send }) =>
      (handler) =>
        Effect.tap(handler, ({ status }) => send(`answered ${status}`))
  )
})

const letters = Plugin.make({
  id: "letters",
  services: Mailer.layer,
  middleware: [audit],
  tasks: [sweep],
  routes: Layer.merge(
    HttpRouter.add(
      "GET",
      "/send",
      Effect.gen(function* () {
        const mailer = yield* Mailer
        return HttpServerResponse.text(yield* mailer.send("letter"))
      })
    ),
    HttpRouter.add(
      "GET",
      "/now",
      Effect.map(Clock.currentTimeMillis, (now) => HttpServerResponse.text(String(now)))
    )
  )
})

it.effect("replaces a service", () =>
  Effect.gen(function* () {
    const fake = Layer.succeed(Mailer, { send: () => Effect.succeed("not sent") })
    const host = yield* TestHost.make([letters], { replace: [replace(Mailer.layer, fake)] })
    assert.strictEqual((yield* host.request("/send")).text, "not sent")
  })
)

it("moves time", async () => {
  await using host = await TestHost.start([letters], { testClock: true })
  await host.run(TestClock.adjust("1 hour"))
  assert.strictEqual(await (await host.fetch("/now")).text(), "3600000")
})

it.effect("runs beside and around requests", () =>
  Effect.gen(function* () {
    const host = yield* TestHost.make([letters], { listen: true })
    yield* host.log.waitFor("swept")
    sent.length = 0
    yield* host.request("/send")
    assert.deepStrictEqual(sent, ["letter", "answered 200"])
  })
)
