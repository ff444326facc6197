/** A plugin whose routes do what the tests of the pipeline ask for. */
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpRouter from "effect/http/HttpRouter"
import { HttpServerError, RouteNotFound } from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Plugin from "../../../../src/Plugins/Plugin.ts"
import * as PluginApi from "../../../../src/Plugins/PluginApi.ts"

/** What a handler fails with, and no answer shows. */
export const secret = "hunter2-in-the-cause"

class Conflict extends HttpApiError.Problem<Conflict>()("Conflict", {
  type: "https://example.com/conflict",
  status: 409,
  title: "Conflict"
}) {}

const Thing = Schema.Struct({
  name: Schema.NonEmptyString,
  count: Schema.Int,
  nested: Schema.Struct({ deep: Schema.Boolean })
})

const Api = HttpApi.make("things").add(
  HttpApiGroup.make("things").add(
    HttpApiEndpoint.put("put", "/things/:id", {
      params: { id: Schema.FiniteFromString },
      query: { page: Schema.FiniteFromString, tags: Schema.Array(Schema.NonEmptyString) },
      headers: { "x-level": Schema.FiniteFromString },
      payload: Thing,
      success: Thing
    }),
    HttpApiEndpoint.get("get", "/things/:id", { params: { id: Schema.FiniteFromString }, success: Schema.Number }),
    HttpApiEndpoint.post("echo", "/echo", { payload: Schema.Struct({ value: Schema.Json }), success: Schema.Json }),
    HttpApiEndpoint.post("maybe", "/maybe/:id", {
      params: { id: Schema.FiniteFromString },
      payload: [Schema.Null, Thing],
      success: Schema.Null
    }),
    HttpApiEndpoint.put("strict", "/strict/:id", {
      params: { id: Schema.FiniteFromString },
      payload: Thing,
      success: Thing
    })
      .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error" })
      .annotate(HttpApi.ParseOptions, {}),
    HttpApiEndpoint.post("text", "/text", {
      payload: Schema.String.pipe(HttpApiSchema.asText()),
      success: Schema.String.pipe(HttpApiSchema.asText())
    }),
    HttpApiEndpoint.post("form", "/form", {
      payload: Schema.Struct({ count: Schema.FiniteFromString, name: Schema.NonEmptyString }).pipe(
        HttpApiSchema.asFormUrlEncoded()
      ),
      success: Schema.String
    }),
    HttpApiEndpoint.post("count", "/count", { success: Schema.Number }),
    HttpApiEndpoint.delete("delete", "/count"),
    HttpApiEndpoint.get("csv", "/csv", {
      success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/csv" }))
    }),
    HttpApiEndpoint.get("ticks", "/ticks", { success: HttpApiSchema.StreamNdjson({ schema: Schema.Number }) }),
    HttpApiEndpoint.get("conflict", "/conflict", { error: Conflict }),
    HttpApiEndpoint.get("bad-answer", "/bad-answer", { success: Schema.NonEmptyString })
  )
)

let count = 0

const handlers = HttpApiBuilder.group(Api, "things", (handlers) =>
  handlers.handleAll({
    put: ({ payload }) => Effect.succeed(payload),
    get: ({ params }) => Effect.succeed(params.id),
    echo: ({ payload }) => Effect.succeed(payload.value),
    maybe: () => Effect.succeed(null),
    strict: ({ payload }) => Effect.succeed(payload),
    text: ({ payload }) => Effect.succeed(payload),
    form: ({ payload }) => Effect.succeed(payload.name),
    count: () => Effect.sync(() => ++count),
    delete: () => Effect.void,
    csv: () => Effect.succeed("a,b"),
    ticks: () => Effect.succeed(Stream.make(1, 2)),
    conflict: () => new Conflict({ detail: "There is another." }),
    "bad-answer": () => Effect.succeed("")
  })
)

/** Gives the request to a function that answers it. */
const answer = <E, R>(
  respond: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) => Effect.flatMap(HttpServerRequest.HttpServerRequest, respond)

const json = (value: unknown) => HttpServerResponse.jsonUnsafe(value)

const routes = Layer.mergeAll(
  HttpRouter.add(
    "POST",
    "/raw/json",
    answer((request) => Effect.map(request.json, json))
  ),
  HttpRouter.add(
    "POST",
    "/raw/text",
    answer((request) => Effect.map(request.text, (text) => HttpServerResponse.text(text)))
  ),
  HttpRouter.add(
    "POST",
    "/raw/twice",
    answer((request) =>
      Effect.map(
        Effect.all([request.arrayBuffer, request.text, request.modify({ url: "/" }).text]),
        ([bytes, ...texts]) => json([new TextDecoder().decode(bytes), ...texts])
      )
    )
  ),
  HttpRouter.add(
    "POST",
    "/raw/size",
    answer((request) =>
      Effect.map(
        Stream.runFold(
          request.stream,
          () => 0,
          (size, chunk) => size + chunk.length
        ),
        json
      )
    )
  ),
  HttpRouter.add("POST", "/raw/schema", Effect.map(HttpServerRequest.schemaBodyJson(Thing, { errors: "all" }), json)),
  HttpRouter.use((router) =>
    router.prefixed("/prefixed").add(
      "POST",
      "/json",
      answer((request) => Effect.map(request.json, (body) => json({ url: request.url, body })))
    )
  ),
  HttpRouter.add(
    "GET",
    "/lost",
    answer((request) => Effect.fail(new HttpServerError({ reason: new RouteNotFound({ request }) })))
  ),
  HttpRouter.add("POST", "/unread", HttpServerResponse.text("not read")),
  HttpRouter.add("GET", "/text", HttpServerResponse.text("plain")),
  HttpRouter.add("GET", "/html", HttpServerResponse.html("<p>hi</p>")),
  HttpRouter.add("GET", "/vary", HttpServerResponse.jsonUnsafe({ a: [1, 2] }, { headers: { vary: "Origin" } })),
  HttpRouter.add("GET", "/vendor", HttpServerResponse.text('{"a":1}', { contentType: "application/vnd.x+json" })),
  HttpRouter.add("GET", "/not-json", HttpServerResponse.text("{", { contentType: "application/json" })),
  HttpRouter.add(
    "GET",
    "/bad-problem",
    HttpServerResponse.text("{", { status: 400, contentType: "application/problem+json" })
  ),
  HttpRouter.add(
    "GET",
    "/own-problem",
    HttpServerResponse.text('{"type":"urn:x","title":"Mine","status":418,"requestId":"mine"}', {
      status: 418,
      contentType: "application/problem+json; charset=utf-8"
    })
  ),
  HttpRouter.add("GET", "/own-error", HttpServerResponse.text("mine", { status: 410 })),
  HttpRouter.add(
    "GET",
    "/empty/:status",
    Effect.map(HttpRouter.params, ({ status }) =>
      HttpServerResponse.empty({ status: Number(status), headers: { "x-own": "kept" } }).pipe(
        HttpServerResponse.setCookieUnsafe("own", "kept")
      )
    )
  ),
  HttpRouter.add("GET", "/fail", Effect.fail(new Error(secret))),
  HttpRouter.add("GET", "/die", Effect.die(new Error(secret))),
  HttpRouter.add(
    "GET",
    "/throw",
    Effect.sync((): HttpServerResponse.HttpServerResponse => {
      throw new TypeError(secret)
    })
  ),
  HttpRouter.add("GET", "/redacted", Effect.fail({ password: Redacted.make(secret) })),
  HttpRouter.add("GET", "/interrupt", Effect.interrupt),
  HttpRouter.add("GET", "/files/*", Effect.map(HttpRouter.params, json)),
  HttpRouter.add(
    "*",
    "/any",
    answer((request) => Effect.succeed(json(request.method)))
  ),
  HttpRouter.add("OPTIONS", "/options", HttpServerResponse.text("own options"))
)

/** The plugin. */
export const things = Plugin.make({ id: "things", apis: [PluginApi.make(Api, handlers)], routes })
