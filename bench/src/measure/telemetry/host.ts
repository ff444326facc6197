/** The host under measurement, in a process of its own: its values come as JSON, and it tells what it has used when asked. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Host from "../../../../src/Host/Host.ts"
import * as Plugin from "../../../../src/Plugins/Plugin.ts"

const values: Record<string, unknown> = JSON.parse(process.argv[2] ?? "{}")

const small = Plugin.make({
  id: "bench",
  routes: HttpRouter.add("GET", "/items/:id", HttpServerResponse.json({ id: 7, name: "seven" }))
})

const program = Effect.gen(function* () {
  const { addresses } = yield* Host.Host
  process.send!({ url: addresses[0] })
  return yield* Effect.never
}).pipe(
  Effect.provide(
    Host.HostLive([small], {
      configuration: { values: { "host:urls": "http://127.0.0.1:0", ...values } }
    }) as Layer.Layer<Host.Host>
  )
)

process.on("message", () => {
  process.send!({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() })
})
const fiber = Effect.runFork(program)
process.on("disconnect", () => {
  fiber.interruptUnsafe()
  process.exit()
})
