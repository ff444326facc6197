import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import { Plugin, Section } from "layerhost"

class Greeting extends Section.Service<Greeting>()("greeting", {
  text: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("Hello")))
}) {}

export const hello = Plugin.make({
  id: "hello",
  config: [Greeting],
  routes: HttpRouter.add(
    "GET",
    "/hello/:name",
    Effect.gen(function* () {
      const { text } = yield* Greeting
      const { name } = yield* HttpRouter.params
      return HttpServerResponse.jsonUnsafe({ message: `${text}, ${name}!` })
    })
  )
})
