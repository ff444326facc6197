import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Schema from "effect/Schema"
import { Plugin, PluginApi, Section } from "layerhost"
import { Greeting, GreetingApi } from "./GreetingApi.ts"

/** The section `greeting` of the configuration. */
class GreetingConfig extends Section.Service<GreetingConfig>()("greeting", {
  text: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("Hello"))).annotateKey({
    description: "What everybody is greeted with."
  })
}) {}

const GreetingHandlers = HttpApiBuilder.group(GreetingApi, "greetings", (handlers) =>
  handlers.handle(
    "greet",
    Effect.fn("Greetings.greet")(function* ({ params }) {
      const { text } = yield* GreetingConfig
      yield* Effect.logDebug("Greeting", { name: params.name })
      return new Greeting({ message: `${text}, ${params.name}!` })
    })
  )
)

export const greeting = Plugin.make({
  id: "greeting",
  config: [GreetingConfig],
  apis: [PluginApi.make(GreetingApi, GreetingHandlers)]
})
