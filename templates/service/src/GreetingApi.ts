/** What clients see: definitions only, so that a client needs no server code. */
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"

export class Greeting extends Schema.Class<Greeting>("Greeting")({ message: Schema.String }) {}

export class GreetingApi extends HttpApi.make("greetings").add(
  HttpApiGroup.make("greetings").add(
    HttpApiEndpoint.get("greet", "/greetings/:name", {
      params: { name: Schema.NonEmptyString },
      success: Greeting
    })
  )
) {}
