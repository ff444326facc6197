/**
 * What the host adds to a plugin's route: the route's name for logs and metrics, the plugin's namespace on log lines, the
 * plugin's services, and the full list of invalid fields.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpApiSchemaError } from "effect/http-api/HttpApiError"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import type { CompiledEndpoint } from "../FastPath/CompiledEndpoint.ts"
import * as RouteTemplate from "../Telemetry/RouteTemplate.ts"
import { CurrentRequest } from "./CurrentRequest.ts"
import * as MediaType from "./MediaType.ts"
import type { ProducedTypes } from "./ProducedTypes.ts"
import { InvalidRequest, NotAcceptable, UnsupportedMediaType } from "./RequestError.ts"
import * as Validation from "./Validation.ts"

/** A handler of requests, whatever it may need of the request itself. */
export type Handler = Effect.Effect<HttpServerResponse, unknown, any>

/** A raw route, whose handler runs in the context that `within` makes of a request's; `around` adds to that what it likes. */
export const rawRoute = (
  route: HttpRouter.Route<any, any>,
  plugin: string,
  within: (context: Context.Context<never>) => Context.Context<never>,
  around: (handler: Handler) => Handler
): HttpRouter.Route<any, any> => {
  const handler = around(Effect.updateContext(route.handler as Effect.Effect<HttpServerResponse, unknown>, within))
  return { ...route, handler: named(handler, route.path, plugin) }
}

/** Compiles the endpoint of a route; it may call the handler that the API runtime made. */
export type Compile = (route: HttpRouter.Route<any, any>, stock: Handler) => CompiledEndpoint | undefined

/** A route as the host's router gets it, and its endpoint where that is compiled. */
export interface PreparedRoute {
  readonly route: HttpRouter.Route<any, any>
  readonly endpoint: CompiledEndpoint | undefined
}

/** A route of an API; its handler has captured its services when it was built. */
export const apiRoute = (
  route: HttpRouter.Route<any, any>,
  plugin: string,
  endpoint: Validation.AnnotatedEndpoint | undefined,
  producedTypes: ProducedTypes,
  around: (handler: Handler) => Handler,
  compile: Compile
): PreparedRoute => {
  const stock = checked(route.handler as Handler, endpoint)
  const compiled = compile(route, stock)
  const handler = acceptable(route, compiled?.handler ?? stock, producedTypes)
  return {
    route: { ...route, handler: named(around(handler), route.path, plugin) },
    endpoint: compiled
  }
}

/** Tells every invalid field, and a body of the wrong type, as the failures that they are. */
const checked = (handler: Handler, endpoint: Validation.AnnotatedEndpoint | undefined): Handler => {
  const collect = endpoint && Validation.collector(endpoint)
  return Effect.flatMap(
    Effect.catchDefect(handler, (defect) =>
      isInvalidInput(defect)
        ? Effect.flatMap(invalidFields(defect, collect), (errors) => Effect.fail(new InvalidRequest(errors)))
        : Effect.die(defect)
    ),
    (response) => (isUnsupportedMediaType(response) ? new UnsupportedMediaType() : Effect.succeed(response))
  )
}

/** Runs the handler only for clients that take what it answers with. */
const acceptable = (route: HttpRouter.Route<any, any>, handler: Handler, producedTypes: ProducedTypes): Handler =>
  Effect.withFiber((fiber) => {
    const context = fiber.context as Context.Context<HttpServerRequest.HttpServerRequest>
    const { accept } = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest).headers
    if (accept === undefined || MediaType.admits(accept, "application/json")) return handler
    const mediaTypes = producedTypes(route.method, route.path)
    return mediaTypes.length === 0 || mediaTypes.some((type) => MediaType.admits(accept, type))
      ? handler
      : new NotAcceptable({ mediaTypes })
  })

const named = (handler: Handler, path: string, plugin: string): Handler => {
  const template = RouteTemplate.fromPath(path)
  return Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context as Context.Context<CurrentRequest>, CurrentRequest)
    request.route = template
    request.plugin = plugin
    return handler
  })
}

const isInvalidInput = (defect: unknown): defect is HttpApiSchemaError =>
  HttpApiSchemaError.is(defect) && defect.kind !== "Body" && defect.kind !== "ResponseHeaders"

const invalidFields = Effect.fnUntraced(function* (error: HttpApiSchemaError, collect: Validation.Collect | undefined) {
  const validationErrors =
    collect === undefined
      ? []
      : yield* collect({
          request: yield* HttpServerRequest.HttpServerRequest,
          params: yield* HttpRouter.params,
          query: yield* HttpServerRequest.ParsedSearchParams
        })
  return {
    validationErrors:
      validationErrors.length > 0 ? validationErrors : Validation.fromSchemaError(error.cause, partNames[error.kind])
  }
})

const partNames: Readonly<Record<HttpApiSchemaError["kind"], string>> = {
  Params: "path",
  Query: "query",
  Headers: "headers",
  Payload: "body",
  Body: "",
  ResponseHeaders: ""
}

/** The API runtime answers a body of a type that the endpoint does not take with a plain text. */
const isUnsupportedMediaType = (response: HttpServerResponse): boolean =>
  response.status === 415 && response.headers["content-type"]?.startsWith("text/plain") === true
