/**
 * The way of every request through the host, in one frame around the plugins' middleware and the routes.
 *
 * In: request id, log annotations, body limit, YAML body to JSON. Out: failures to problems, JSON to YAML where the client
 * asks for it, the host's headers, metrics, the request log.
 */
import * as ByteSize from "effect/ByteSize"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { MaxBodySize } from "effect/http/HttpIncomingMessage"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as References from "effect/References"
import type { Scope } from "effect/Scope"
import { CurrentRequest, type RequestState } from "./CurrentRequest.ts"
import * as Failure from "./Failure.ts"
import type { HttpMetrics } from "./HttpMetrics.ts"
import * as MediaType from "./MediaType.ts"
import * as Problem from "./Problem.ts"
import * as RequestId from "./RequestId.ts"
import * as RequestLog from "./RequestLog.ts"
import * as Yaml from "./Yaml.ts"

/** What the pipeline needs of the host. */
export interface PipelineOptions extends Failure.FailureContext {
  readonly metrics: HttpMetrics
  /** Whether the host has begun to shut down; connections are then closed after their answer. */
  readonly isShuttingDown: () => boolean
  /** Whether requests to this route go into the request log. */
  readonly isLogged: (route: string | undefined) => boolean
}

/** Everything that a request meets: the pipeline around the handler of the plugins' middleware and routes. */
export type HttpEffect = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope
>

/** Puts the pipeline around a handler. */
export const make = (
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, HttpServerRequest.HttpServerRequest | Scope>,
  options: PipelineOptions
): HttpEffect => {
  const { metrics } = options
  const maxBodySize = ByteSize.bytes(options.maxRequestSize)

  return Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const start = clock.currentTimeNanosUnsafe()
    const original = Context.getUnsafe(
      fiber.context as Context.Context<HttpServerRequest.HttpServerRequest>,
      HttpServerRequest.HttpServerRequest
    )
    const state: RequestState = {
      requestId: RequestId.fromHeader(original.headers[RequestId.header]),
      route: undefined
    }
    const occurrence = (): Problem.Occurrence => ({
      requestId: state.requestId,
      timestamp: new Date(clock.currentTimeMillisUnsafe()).toISOString()
    })
    const request = hasYamlBody(original) ? Yaml.requestAsJson(original) : original
    metrics.begin()

    const answered: Effect.Effect<
      HttpServerResponse.HttpServerResponse,
      never,
      HttpServerRequest.HttpServerRequest | Scope
    > =
      declaredLength(original) > options.maxRequestSize
        ? Effect.succeed(Problem.toResponse(Failure.bodyTooLarge(options.maxRequestSize), occurrence()))
        : Effect.matchCauseEffect(handler, {
            onFailure: (cause) => Failure.toResponse(cause, request, occurrence(), options),
            onSuccess: (response) =>
              Effect.succeed(response.status < 400 ? response : Problem.complete(response, occurrence()))
          })

    const finished = Effect.flatMap(answered, (answer) => {
      const response = withHostHeaders(asClientAccepts(answer, original), state.requestId, options.isShuttingDown())
      const seconds = Number(clock.currentTimeNanosUnsafe() - start) / 1e9
      metrics.end(original.method, state.route, response.status, seconds)
      return options.isLogged(state.route)
        ? Effect.as(RequestLog.write({ request: original, response, route: state.route, seconds }), response)
        : Effect.succeed(response)
    })

    return Effect.provideContext(
      finished,
      Context.empty().pipe(
        Context.add(CurrentRequest, state),
        Context.add(HttpServerRequest.HttpServerRequest, request),
        Context.add(MaxBodySize, maxBodySize),
        Context.add(References.CurrentLogAnnotations, { requestId: state.requestId })
      )
    )
  })
}

const hasYamlBody = (request: HttpServerRequest.HttpServerRequest): boolean => {
  const contentType = request.headers["content-type"]
  return contentType !== undefined && MediaType.isYaml(MediaType.essence(contentType))
}

const declaredLength = (request: HttpServerRequest.HttpServerRequest): number => {
  const length = request.headers["content-length"]
  return length === undefined ? 0 : Number(length)
}

const asClientAccepts = (
  response: HttpServerResponse.HttpServerResponse,
  request: HttpServerRequest.HttpServerRequest
): HttpServerResponse.HttpServerResponse => {
  const accept = request.headers["accept"]
  return accept !== undefined && MediaType.prefersYaml(accept) ? Yaml.responseAsYaml(response) : response
}

const withHostHeaders = (
  response: HttpServerResponse.HttpServerResponse,
  requestId: string,
  isShuttingDown: boolean
): HttpServerResponse.HttpServerResponse => {
  const mediaType = MediaType.essence(response.headers["content-type"] ?? "")
  return HttpServerResponse.setHeaders(response, {
    [RequestId.header]: requestId,
    // Caches must not give one client's media type to another.
    ...(MediaType.isJson(mediaType) || MediaType.isYaml(mediaType)
      ? { vary: response.headers["vary"] === undefined ? "Accept" : `${response.headers["vary"]}, Accept` }
      : undefined),
    ...(isShuttingDown ? { connection: "close" } : undefined)
  })
}
