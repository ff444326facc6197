/** The service as definitions of Effect's HttpApi with their handlers: layerhost and the plain runtime serve the same ones. */
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { confirm, emailPattern, item, items } from "./service.ts"

const Item = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  price: Schema.Number,
  tags: Schema.Array(Schema.String)
})

const Line = Schema.Struct({
  sku: Schema.String.check(Schema.isMinLength(1)),
  quantity: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })),
  price: Schema.Number.check(Schema.isGreaterThanOrEqualTo(0))
})

const Order = Schema.Struct({
  customer: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(100)),
  email: Schema.String.check(Schema.isPattern(emailPattern)),
  note: Schema.String,
  lines: Schema.Array(Line)
})

const Confirmation = Schema.Struct({ id: Schema.String, total: Schema.Number })

/** The API below a prefix, so that there can be many. */
export const make = (name: string, prefix: "" | `/${string}` = "") => {
  const group = HttpApiGroup.make(`${name}-items`)
    .add(HttpApiEndpoint.get("get", `${prefix}/items/:id`, { params: { id: Schema.String }, success: Item }))
    .add(HttpApiEndpoint.get("list", `${prefix}/items`, { success: Schema.Array(Item) }))
    .add(HttpApiEndpoint.post("order", `${prefix}/orders`, { payload: Order, success: Confirmation }))
  const api = HttpApi.make(name).add(group)
  const handlers = HttpApiBuilder.group(api, `${name}-items`, (handlers) =>
    handlers
      .handle("get", ({ params }) => Effect.succeed(item(params.id)))
      .handle("list", () => Effect.succeed(items))
      .handle("order", ({ payload }) => Effect.succeed(confirm(payload)))
  )
  return { api, handlers }
}
