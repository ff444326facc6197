/** An API with an endpoint of every sort, between plugins that it may and may not see. */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Stream from "effect/Stream"
import * as HealthCheck from "../../../../src/Plugins/HealthCheck.ts"
import * as Plugin from "../../../../src/Plugins/Plugin.ts"
import * as PluginApi from "../../../../src/Plugins/PluginApi.ts"

/** Services by where they come from. */
export class Earlier extends Context.Service<Earlier, string>()("test/FastPath/Earlier") {}
export class Own extends Context.Service<Own, string>()("test/FastPath/Own") {}
export class Local extends Context.Service<Local, string>()("test/FastPath/Local") {}
export class Twice extends Context.Service<Twice, string>()("test/FastPath/Twice") {}
export class Later extends Context.Service<Later, string>()("test/FastPath/Later") {}
export class Given extends Context.Service<Given, string>()("test/FastPath/Given") {}

/** Each service as an effect sees it. */
export const seen = Effect.all(
  ([Earlier, Own, Local, Twice, Later, Given] as ReadonlyArray<Context.Key<unknown, string>>).map((service) =>
    Effect.map(
      Effect.serviceOption(service),
      Option.getOrElse(() => "-")
    )
  )
)

class Conflict extends HttpApiError.Problem<Conflict>()("Conflict", {
  type: "https://example.com/conflict",
  status: 409,
  title: "Conflict"
}) {}
class Gone extends Schema.TaggedError<Gone>()("Gone", { at: Schema.DateTimeUtcFromString }, { httpApiStatus: 410 }) {}
class Teapot extends Schema.TaggedError<Teapot>()("Teapot", { cups: Schema.Int }, { httpApiStatus: 418 }) {}
class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {}, { httpApiStatus: 401 }) {}

class Guard extends HttpApiMiddleware.Service<Guard, { provides: Given }>()("test/FastPath/Guard", {
  security: { bearer: HttpApiSecurity.bearer },
  error: Unauthorized
}) {}
const guard = Layer.succeed(
  Guard,
  Guard.of({
    bearer: (handler, { credential }) =>
      Redacted.value(credential) === "sesame"
        ? Effect.provideService(handler, Given, "guard")
        : Effect.fail(new Unauthorized())
  })
)

class Person extends Schema.Class<Person>("Person")({
  name: Schema.NonEmptyString,
  born: Schema.DateTimeUtcFromString,
  email: Schema.optionalKey(Schema.String.check(Schema.isPattern(/@/)))
}) {}

interface Tree {
  readonly value: number
  readonly children: ReadonlyArray<Tree>
}
const Tree = Schema.Struct({
  value: Schema.Number,
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
})

const Shape = Schema.Union([
  Schema.Struct({ kind: Schema.Literal("circle"), radius: Schema.Finite.check(Schema.isGreaterThan(0)) }),
  Schema.Struct({ kind: Schema.Literal("square"), side: Schema.Finite })
])

const Item = Schema.Struct({ name: Schema.NonEmptyString, count: Schema.Int, tags: Schema.Array(Schema.String) })

/** Decodes only after a turn of the event loop. */
const Slow = Schema.String.pipe(
  Schema.decodeTo(Schema.NonEmptyString, {
    decode: SchemaGetter.transformEffect((text: string) => Effect.as(Effect.yieldNow, text.trim())),
    encode: SchemaGetter.transformEffect((text: string) => Effect.as(Effect.yieldNow, `${text}!`))
  })
)

const cookie = HttpApiSecurity.apiKey({ key: "session", in: "cookie" })

/** The results that a handler is asked for by the name in the path. */
const Outcome = Schema.Literals([
  "value",
  "invalid",
  "response",
  "conflict",
  "gone",
  "teapot",
  "unknown",
  "schema",
  "die",
  "throw",
  "interrupt",
  "async",
  "empty"
])

const input = HttpApiGroup.make("input").add(
  HttpApiEndpoint.get("path", "/path/:id/:day", {
    params: {
      id: Schema.FiniteFromString.check(Schema.isBetween({ minimum: -5, maximum: 9e3 })),
      day: Schema.DateTimeUtcFromString
    },
    success: Schema.Struct({ id: Schema.Number, day: Schema.DateTimeUtcFromString })
  }),
  HttpApiEndpoint.get("query", "/query", {
    query: {
      page: Schema.optionalKey(Schema.FiniteFromString),
      tags: Schema.optional(Schema.Array(Schema.NonEmptyString)),
      flag: Schema.optional(Schema.Literals(["on", "off"]))
    },
    success: Schema.Json
  }),
  HttpApiEndpoint.get("headers", "/headers", {
    headers: { "x-level": Schema.FiniteFromString, "x-note": Schema.optionalKey(Schema.NonEmptyString) },
    success: Schema.Json
  }),
  HttpApiEndpoint.put("all", "/all/:id", {
    params: { id: Schema.FiniteFromString },
    query: { page: Schema.FiniteFromString },
    headers: { "x-level": Schema.FiniteFromString },
    payload: Item,
    success: Item.pipe(HttpApiSchema.status(201))
  }),
  HttpApiEndpoint.post("class", "/class", { payload: Person, success: Person }),
  HttpApiEndpoint.post("tree", "/tree", { payload: Tree, success: Tree }),
  HttpApiEndpoint.post("union", "/union", { payload: Shape, success: Shape }),
  HttpApiEndpoint.post("several", "/several", { payload: [Item, Shape, Schema.Null], success: Schema.Json }),
  HttpApiEndpoint.post("optional", "/optional", { payload: Schema.UndefinedOr(Item), success: Schema.Json }),
  HttpApiEndpoint.post("nullable", "/nullable", { payload: Schema.NullOr(Item), success: Schema.NullOr(Item) }),
  HttpApiEndpoint.patch("strict", "/strict", { payload: Item, success: Item }).annotate(HttpApi.PayloadParseOptions, {
    onExcessProperty: "error"
  }),
  HttpApiEndpoint.patch("patient", "/patient", { payload: Item, success: Schema.Json }).annotate(HttpApi.ParseOptions, {
    errors: "all"
  }),
  HttpApiEndpoint.post("slow", "/slow/:id", {
    params: { id: Slow },
    payload: Schema.Struct({ text: Slow }),
    success: Schema.Struct({ id: Slow, text: Slow })
  }),
  HttpApiEndpoint.get("slowAnswer", "/slow-answer/:id", { params: { id: Schema.String }, success: Slow }),
  HttpApiEndpoint.post("text", "/text", {
    payload: Schema.NonEmptyString.pipe(HttpApiSchema.asText()),
    success: Schema.String.pipe(HttpApiSchema.asText())
  }),
  HttpApiEndpoint.post("form", "/form", {
    payload: Schema.Struct({ count: Schema.FiniteFromString, names: Schema.Array(Schema.String) }).pipe(
      HttpApiSchema.asFormUrlEncoded()
    ),
    success: Schema.Json
  }),
  HttpApiEndpoint.post("mixed", "/mixed", {
    payload: [Item, Schema.String.pipe(HttpApiSchema.asText())],
    success: Schema.Json
  }),
  HttpApiEndpoint.post("multipart", "/multipart", {
    payload: Schema.Struct({ name: Schema.String }).pipe(HttpApiSchema.asMultipart()),
    success: Schema.Json
  }),
  HttpApiEndpoint.get("search", "/search", { payload: { page: Schema.FiniteFromString }, success: Schema.Json }),
  HttpApiEndpoint.post("again", "/again", { payload: Item, success: Schema.Json }),
  HttpApiEndpoint.post("raw", "/raw", { payload: Item, success: Schema.Json })
)

const output = HttpApiGroup.make("output").add(
  HttpApiEndpoint.get("outcome", "/outcome/:outcome", {
    params: { outcome: Outcome },
    success: Schema.NonEmptyString,
    error: [Conflict, Gone, Teapot]
  }),
  HttpApiEndpoint.post("outcomeOf", "/outcome/:outcome", {
    params: { outcome: Outcome },
    payload: Item,
    success: Schema.NonEmptyString.pipe(HttpApiSchema.status(202)),
    error: [Conflict, Gone, Teapot]
  }),
  HttpApiEndpoint.get("nothing", "/nothing"),
  HttpApiEndpoint.get("created", "/created", { success: HttpApiSchema.Created }),
  HttpApiEndpoint.get("maybe", "/maybe/:id", {
    params: { id: Schema.String },
    success: Schema.UndefinedOr(Schema.String)
  }),
  HttpApiEndpoint.get("either", "/either/:id", {
    params: { id: Schema.String },
    success: [Item, Schema.Number.pipe(HttpApiSchema.status(203))]
  }),
  HttpApiEndpoint.get("csv", "/csv", {
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/csv" }))
  }),
  HttpApiEndpoint.get("hal", "/hal", {
    success: Item.pipe(HttpApiSchema.asJson({ contentType: "application/hal+json" }))
  }),
  HttpApiEndpoint.get("withHeaders", "/with-headers", {
    success: HttpApiSchema.WithHeaders(Schema.Number, { "x-total": Schema.FiniteFromString })
  }),
  HttpApiEndpoint.get("ndjson", "/ndjson", { success: HttpApiSchema.StreamNdjson({ schema: Schema.Number }) }),
  HttpApiEndpoint.get("sse", "/sse", { success: HttpApiSchema.StreamSse({ data: Schema.Number }) }),
  HttpApiEndpoint.get("any", "/any", { success: Schema.Unknown })
)

const surroundings = HttpApiGroup.make("surroundings").add(
  HttpApiEndpoint.get("services", "/services", { success: Schema.Json }),
  HttpApiEndpoint.get("hook", "/hook/:outcome", {
    params: { outcome: Schema.String },
    success: Schema.Json,
    error: Teapot
  }),
  HttpApiEndpoint.get("cookie", "/cookie", { success: Schema.Json }),
  HttpApiEndpoint.get("router", "/router/:id", { params: { id: Schema.String }, success: Schema.Json }),
  HttpApiEndpoint.post("logs", "/logs", { payload: Item, success: Schema.Json })
)

const shadowed = HttpApiGroup.make("shadowed").add(
  HttpApiEndpoint.get("shadowedServices", "/shadowed", { success: Schema.Json })
)

const quiet = HttpApiGroup.make("quiet").add(
  HttpApiEndpoint.get("quietly", "/quiet/:outcome", {
    params: { outcome: Outcome },
    success: Schema.NonEmptyString,
    error: [Conflict, Gone, Teapot]
  })
)

const guarded = HttpApiGroup.make("guarded")
  .add(HttpApiEndpoint.get("guardedServices", "/guarded", { success: Schema.Json }))
  .middleware(Guard)

export const Api = HttpApi.make("everything").add(input, output, surroundings, shadowed, quiet, guarded)

const resultOf = (outcome: typeof Outcome.Type): Effect.Effect<any, Conflict | Gone | Teapot> => {
  switch (outcome) {
    case "value":
      return Effect.succeed("value")
    case "invalid":
      return Effect.succeed("")
    case "response":
      return Effect.succeed(HttpServerResponse.text("a response", { status: 299, headers: { "x-own": "1" } }))
    case "conflict":
      return new Conflict({ detail: "There is another." })
    case "gone":
      return new Gone({ at: DateTime.makeUnsafe(0) })
    case "teapot":
      return new Teapot({ cups: 2 })
    case "unknown":
      return Effect.fail(new Error("nobody declared this") as never)
    case "schema":
      return Schema.decodeUnknownEffect(Schema.Number)("x") as Effect.Effect<never, never>
    case "die":
      return Effect.die(new Error("died"))
    case "throw":
      throw new Error("thrown")
    case "interrupt":
      return Effect.interrupt
    case "async":
      return Effect.promise(() => Promise.resolve("async"))
    case "empty":
      return Effect.void
  }
}

const json = (value: unknown): Schema.Json => JSON.parse(JSON.stringify(value) ?? '"undefined"')

const inputs = HttpApiBuilder.group(Api, "input", (handlers) =>
  handlers
    .handleAll({
      path: ({ params }) => Effect.succeed(params),
      query: ({ query }) => Effect.succeed(json(query)),
      headers: ({ headers }) => Effect.succeed(json(headers)),
      all: ({ payload }) => Effect.succeed(payload),
      class: ({ payload }) => Effect.succeed(payload),
      tree: ({ payload }) => Effect.succeed(payload),
      union: ({ payload }) => Effect.succeed(payload),
      several: ({ payload }) => Effect.succeed(json(payload)),
      optional: ({ payload }) => Effect.succeed(json(payload)),
      nullable: ({ payload }) => Effect.succeed(payload),
      strict: ({ payload }) => Effect.succeed(payload),
      patient: ({ payload }) => Effect.succeed(json(payload)),
      slow: ({ params, payload }) => Effect.succeed({ ...params, ...payload }),
      slowAnswer: ({ params }) => Effect.succeed(params.id),
      text: ({ payload }) => Effect.succeed(payload),
      form: ({ payload }) => Effect.succeed(json(payload)),
      mixed: ({ payload }) => Effect.succeed(json(payload)),
      multipart: ({ payload }) => Effect.succeed(json(payload)),
      search: ({ payload }) => Effect.succeed(json(payload)),
      again: ({ payload, request }) => Effect.orDie(Effect.map(request.json, (body) => json([payload, body])))
    })
    .handleRaw("raw", ({ request }) => Effect.orDie(Effect.map(request.text, json)))
)

const outputs = HttpApiBuilder.group(Api, "output", (handlers) =>
  handlers.handleAll({
    outcome: ({ params }) => resultOf(params.outcome),
    outcomeOf: ({ params }) => resultOf(params.outcome),
    nothing: () => Effect.void,
    created: () => Effect.void,
    maybe: ({ params }) => Effect.succeed(params.id === "none" ? undefined : params.id),
    either: ({ params }) => Effect.succeed(params.id === "1" ? 1 : { name: params.id, count: 1, tags: [] }),
    csv: () => Effect.succeed("a,b"),
    hal: () => Effect.succeed({ name: "hal", count: 1, tags: [] }),
    withHeaders: () => Effect.succeed(HttpApiSchema.withHeaders({ body: 7, headers: { "x-total": 70 } })),
    ndjson: () => Effect.succeed(Stream.make(1, 2)),
    sse: () => Effect.succeed(Stream.make(1, 2)),
    // What JSON cannot say.
    any: () => Effect.sync(() => ({ big: 1n }))
  })
)

const inSurroundings = HttpApiBuilder.group(Api, "surroundings", (handlers) =>
  handlers.handleAll({
    services: () => Effect.map(seen, json),
    hook: ({ params }) =>
      Effect.andThen(
        HttpEffect.appendPreResponseHandler((_request, response) =>
          Effect.succeed(HttpServerResponse.setHeader(response, "x-hook", "1"))
        ),
        params.outcome === "teapot" ? new Teapot({ cups: 1 }) : Effect.succeed(params.outcome)
      ),
    cookie: () => Effect.as(HttpApiBuilder.securitySetCookie(cookie, "value"), "set"),
    router: () =>
      Effect.gen(function* () {
        const params = yield* HttpRouter.params
        const { route } = yield* HttpRouter.RouteContext
        const { url } = yield* HttpServerRequest.HttpServerRequest
        const search = yield* HttpServerRequest.ParsedSearchParams
        return json([params, route.path, url, search])
      }),
    logs: ({ payload }) =>
      Effect.as(Effect.annotateLogs(Effect.logInfo("taken", payload.name), { count: payload.count }), payload.tags)
  })
)

const inShadow = HttpApiBuilder.group(Api, "shadowed", (handlers) =>
  handlers.handle("shadowedServices", () => Effect.map(seen, json))
).pipe(Layer.provide([Layer.succeed(Twice, "local"), Layer.succeed(Local, "local")]))

const quietly = HttpApiBuilder.group(Api, "quiet", (handlers) =>
  handlers.handle("quietly", ({ params }) => Effect.andThen(Effect.logError("hush"), resultOf(params.outcome)))
).pipe(Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")))

const behindGuard = HttpApiBuilder.group(Api, "guarded", (handlers) =>
  handlers.handle("guardedServices", () => Effect.map(seen, json))
).pipe(Layer.provide(guard))

/** The handlers of all endpoints. */
export const handlers = Layer.mergeAll(inputs, outputs, inSurroundings, inShadow, quietly, behindGuard)

export const earlier = Plugin.make({
  id: "earlier",
  services: Layer.mergeAll(Layer.succeed(Earlier, "earlier"), Layer.succeed(Twice, "earlier")),
  routes: HttpRouter.add("GET", "/earlier", Effect.map(seen, HttpServerResponse.jsonUnsafe))
})
export const everything = Plugin.make({
  id: "everything",
  services: Layer.mergeAll(Layer.succeed(Own, "own"), Layer.succeed(Twice, "own")),
  healthChecks: [
    HealthCheck.make({ name: "own", tags: ["own"], check: Effect.map(Own, HealthCheck.healthy) }),
    HealthCheck.make({
      name: "given",
      tags: ["own"],
      check: Effect.map(seen, (all) => HealthCheck.degraded(all.join()))
    }),
    HealthCheck.make({
      name: "broken",
      tags: ["broken"],
      check: Effect.andThen(Effect.log("broken"), Effect.fail("broken"))
    })
  ],
  apis: [PluginApi.make(Api, handlers)],
  routes: HttpRouter.add("GET", "/everything", Effect.map(seen, HttpServerResponse.jsonUnsafe))
})
export const later = Plugin.make({
  id: "later",
  services: Layer.mergeAll(Layer.succeed(Later, "later"), Layer.succeed(Twice, "later")),
  routes: HttpRouter.add("GET", "/later", Effect.map(seen, HttpServerResponse.jsonUnsafe))
})

/** The plugins in an order in which the API stands between the others. */
export const plugins = [earlier, everything, later] as const
