/** Checked by the compiler alone: what the types let through, and what they refuse and how. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Plugin from "../../src/Plugins/Plugin.ts"
import type { Validated } from "../../src/Plugins/PluginList.ts"
import * as Section from "../../src/Plugins/Section.ts"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as FileSystem from "effect/FileSystem"

declare const HostLive: <const Plugins extends ReadonlyArray<Plugin.Any>>(plugins: Plugins & Validated<Plugins>) => void

class Customers extends Context.Service<Customers, { readonly count: Effect.Effect<number> }>()("shop/Customers") {}
class Limits extends Section.Service<Limits>()("limits", { max: Schema.Int }) {}

const customers = Plugin.make({
  id: "customers",
  config: [Limits],
  services: Layer.effect(
    Customers,
    Effect.gen(function* () {
      const limits = yield* Limits
      yield* FileSystem.FileSystem
      return { count: Effect.succeed(limits.max) }
    })
  )
})
const orders = Plugin.make({
  id: "orders",
  routes: HttpRouter.add(
    "GET",
    "/orders",
    Effect.map(
      Effect.flatMap(Customers, (customers) => customers.count),
      (count) => HttpServerResponse.text(String(count))
    )
  )
})
const third = Plugin.fromPackage({ name: "x", version: "1.0.0" }, customers)

HostLive([customers, orders])
HostLive([orders, third])
HostLive([])
const list: ReadonlyArray<Plugin.Any> = [orders]
HostLive(list)
// @ts-expect-error plugin "orders" needs a service that no earlier plugin provides: shop/Customers
HostLive([orders, customers])
// @ts-expect-error plugin "orders" needs a service that no earlier plugin provides: shop/Customers
HostLive([orders])
