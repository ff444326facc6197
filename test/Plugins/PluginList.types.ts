/** Checked by the compiler alone: which lists of plugins the types let through, and what they say of the others. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Host from "../../src/Host/Host.ts"
import * as HealthCheck from "../../src/Plugins/HealthCheck.ts"
import * as Middleware from "../../src/Plugins/Middleware.ts"
import * as Plugin from "../../src/Plugins/Plugin.ts"
import type { Validated } from "../../src/Plugins/PluginList.ts"
import * as Section from "../../src/Plugins/Section.ts"
import * as Task from "../../src/Plugins/Task.ts"
import { same } from "../support/Same.ts"

class Customers extends Context.Service<Customers, { readonly count: Effect.Effect<number> }>()("shop/Customers") {}
class Stock extends Context.Service<Stock, object>()("shop/Stock") {}
class Limits extends Section.Service<Limits>()("limits", { max: Schema.Int }) {}

const CustomersLive = Layer.effect(
  Customers,
  Effect.map(Limits, ({ max }) => ({ count: Effect.succeed(max) }))
)
const customers = Plugin.make({ id: "customers", config: [Limits], services: CustomersLive })
const ordersRoute = HttpRouter.add(
  "GET",
  "/orders",
  Effect.gen(function* () {
    const { count } = yield* Customers
    return HttpServerResponse.text(String(yield* count))
  })
)
const orders = Plugin.make({ id: "orders", routes: ordersRoute })
const info = { name: "x", version: "1.0.0" }
const third = Plugin.fromPackage(info, customers)
const framework = Plugin.make({ id: "layerhost/customers", config: [Limits], services: CustomersLive })

// Every entry checks its list, and takes one whose requirements are met in sort order.
Host.HostLive([])
Host.HostLive([customers, orders])
Host.HostLive([orders, third])
Host.HostLive([orders, framework])
Host.HostLive([Plugin.fromPackage(info, orders), framework])
Host.build([customers, orders])
Host.run([customers, orders])
Host.runMain([customers, orders])
const constant = [customers, orders] as const
Host.HostLive(constant)

// What is made in the list itself counts as what is made before.
Host.HostLive([
  Plugin.make({ id: "customers", config: [Limits], services: CustomersLive }),
  Plugin.make({ id: "resource", services: Layer.effectDiscard(Effect.acquireRelease(Effect.void, () => Effect.void)) }),
  Plugin.fromPackage(info, Plugin.make({ id: "packaged", services: Layer.succeed(Stock, {}) })),
  Plugin.make({
    id: "orders",
    middleware: [Middleware.make({ name: "m", build: Effect.as(Customers, (handler) => handler) })],
    healthChecks: [HealthCheck.make({ name: "c", tags: [], check: Effect.as(Stock, HealthCheck.healthy()) })],
    routes: ordersRoute,
    tasks: [Task.make("t", Customers)]
  })
])

// A list whose length the types do not know is checked when the host is built.
const list: ReadonlyArray<Plugin.Any> = [orders]
Host.HostLive(list)

// The complaint stands on the plugin that lacks the service, in every entry.
Host.HostLive([
  // @ts-expect-error plugin "orders" needs a service that no earlier plugin provides: shop/Customers
  orders,
  customers
])
Host.build([
  // @ts-expect-error plugin "orders" needs a service that no earlier plugin provides: shop/Customers
  orders
])
Host.run([
  // @ts-expect-error plugin "orders" needs a service that no earlier plugin provides: shop/Customers
  orders
])
Host.runMain([
  // @ts-expect-error plugin "orders" needs a service that no earlier plugin provides: shop/Customers
  orders
])
Host.HostLive([
  customers,
  // @ts-expect-error third-party plugins run before the service's own
  Plugin.fromPackage(info, orders)
])
Host.HostLive([
  customers,
  Plugin.make({ id: "between" }),
  // @ts-expect-error plugin "tasks" needs a service that no earlier plugin provides: shop/Stock
  Plugin.make({ id: "tasks", tasks: [Task.make("t", Effect.andThen(Customers, Stock))] })
])
Host.HostLive([
  customers,
  // @ts-expect-error a section is its plugin's alone
  Plugin.make({ id: "curious", tasks: [Task.make("t", Limits)] })
])

/** What the types make of a list. */
type Complaint<
  Id extends string,
  Service extends string
> = `plugin "${Id}" needs a service that no earlier plugin provides: ${Service}`
const both = Plugin.make({ id: "both", tasks: [Task.make("t", Effect.andThen(Customers, Stock))] })

same<Validated<[typeof customers, typeof orders]>, readonly [typeof customers, typeof orders]>()
same<Validated<[typeof orders, typeof customers]>, readonly [Complaint<"orders", "shop/Customers">, typeof customers]>()
same<Validated<[typeof both]>, readonly [Complaint<"both", "shop/Customers"> | Complaint<"both", "shop/Stock">]>()
