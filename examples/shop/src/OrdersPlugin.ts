import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Plugin } from "layerhost/Plugins"
import { Customers } from "./Customers.ts"

/** Orders of customers: nothing without a plugin that knows those. */
export const orders = Plugin.make({
  id: "orders",
  routes: HttpRouter.add(
    "GET",
    "/customers/:customer/orders",
    Effect.gen(function* () {
      const customers = yield* Customers
      const { customer = "" } = yield* HttpRouter.params
      const name = yield* customers.name(customer)
      return name === undefined
        ? HttpServerResponse.empty({ status: 404 })
        : HttpServerResponse.jsonUnsafe({ customer: name, orders: [] })
    })
  )
})
