import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { ErrorMapping, Middleware, Plugin, Section } from "layerhost/Plugins"

class Settings extends Section.Service<Settings>()("stock", { token: Schema.RedactedFromValue(Schema.String) }) {}

const authorized = Middleware.make({
  name: "authorized",
  routes: "own",
  build: Effect.map(
    Settings,
    ({ token }) =>
      (route) =>
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
          headers["authorization"] === `Bearer ${Redacted.value(token)}`
            ? route
            : Effect.succeed(HttpServerResponse.empty({ status: 401 }))
        )
  )
})

export class OutOfStock extends Schema.TaggedError<OutOfStock>()("OutOfStock", { item: Schema.String }) {}

export const stock = Plugin.make({
  id: "stock",
  config: [Settings],
  middleware: [authorized],
  errors: [ErrorMapping.make(OutOfStock, { status: 409, detail: ({ item }) => `There is no ${item} left.` })]
})
