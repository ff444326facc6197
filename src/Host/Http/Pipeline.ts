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
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as References from "effect/References"
import type { Scope } from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { CurrentRequest, type RequestState } from "./CurrentRequest.ts"
import * as Failure from "./Failure.ts"
import type { HttpMetrics } from "./HttpMetrics.ts"
import * as MediaType from "./MediaType.ts"
import * as Problem from "./Problem.ts"
import * as RequestBody from "./RequestBody.ts"
import * as RequestId from "./RequestId.ts"
import * as RequestLog from "./RequestLog.ts"
import * as Yaml from "./Yaml.ts"

/** What the pipeline needs of the host. Once it shuts down, connections are closed after their answer. */
export interface PipelineOptions extends Failure.FailureContext {
  readonly metrics: HttpMetrics
  /** Whether requests to this route go into the request log. */
  readonly isLogged: (route: string | undefined) => boolean
}

/** Everything that a request meets: the pipeline around the handler of the plugins' middleware and routes. */
export type HttpEffect = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest | Scope>

/** Puts the pipeline around a handler. */
export const make = (
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, HttpServerRequest | Scope>,
  options: PipelineOptions
): HttpEffect => {
  const { maxRequestSize, metrics } = options
  const maxBodySize = ByteSize.bytes(maxRequestSize)

  return Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const start = clock.currentTimeNanosUnsafe()
    const request = Context.getUnsafe(fiber.context as Context.Context<HttpServerRequest>, HttpServerRequest)
    const requestId = RequestId.fromHeader(request.headers[RequestId.header])
    const state: RequestState = { requestId, route: undefined }
    const occurrence = (): Problem.Occurrence => ({
      timestamp: new Date(clock.currentTimeMillisUnsafe()).toISOString(),
      requestId
    })
    metrics.begin()
    annotateSpan(fiber.context, requestId)

    const answered: HttpEffect =
      declaredLength(request) > maxRequestSize
        ? Effect.sync(() =>
            Problem.toResponse(Failure.bodyTooLarge(RequestBody.tooLarge(maxRequestSize)), occurrence())
          )
        : Effect.matchCauseEffect(handler, {
            onFailure: (cause) => Failure.toResponse(cause, request, occurrence(), options),
            onSuccess: (response) =>
              Effect.succeed(response.status < 400 ? response : Problem.complete(response, occurrence()))
          })

    const finished = Effect.flatMap(answered, (answer) => {
      const response = withHostHeaders(asClientAccepts(answer, request), requestId, options.isShuttingDown())
      const seconds = Number(clock.currentTimeNanosUnsafe() - start) / 1e9
      metrics.end(request.method, state.route, response.status, seconds)
      return options.isLogged(state.route)
        ? Effect.as(RequestLog.write({ request, response, route: state.route, seconds }), response)
        : Effect.succeed(response)
    })

    return Effect.provideContext(
      finished,
      Context.empty().pipe(
        Context.add(CurrentRequest, state),
        Context.add(HttpServerRequest, RequestBody.checked(request, maxRequestSize)),
        Context.add(MaxBodySize, maxBodySize),
        Context.add(References.CurrentLogAnnotations, { requestId })
      )
    )
  })
}

const annotateSpan = (context: Context.Context<never>, requestId: string): void => {
  const span = Context.getOrUndefined(context, Tracer.ParentSpan)
  if (span?._tag === "Span") span.attribute("http.request.id", requestId)
}

const declaredLength = (request: HttpServerRequest): number => {
  const length = request.headers["content-length"]
  return length === undefined ? 0 : Number(length)
}

/** A JSON answer as YAML, where the client would rather have that; any other answer as it is. */
const asClientAccepts = (
  response: HttpServerResponse.HttpServerResponse,
  request: HttpServerRequest
): HttpServerResponse.HttpServerResponse => {
  const accept = request.headers["accept"]
  if (accept === undefined || !MediaType.prefersYaml(accept) || response.body._tag !== "Uint8Array") return response
  const mediaType = MediaType.essence(response.headers["content-type"] ?? "")
  if (!MediaType.isJson(mediaType)) return response
  const yaml = Yaml.fromJson(response.body.text ?? new TextDecoder().decode(response.body.body))
  return yaml === undefined
    ? response
    : HttpServerResponse.setBody(
        response,
        HttpServerResponse.text(yaml, { contentType: MediaType.yamlOf(mediaType) }).body
      )
}

const withHostHeaders = (
  response: HttpServerResponse.HttpServerResponse,
  requestId: string,
  isShuttingDown: boolean
): HttpServerResponse.HttpServerResponse => {
  const mediaType = MediaType.essence(response.headers["content-type"] ?? "")
  const vary = response.headers["vary"]
  return HttpServerResponse.setHeaders(response, {
    [RequestId.header]: requestId,
    // Caches must not give one client's media type to another.
    ...(MediaType.isJson(mediaType) || MediaType.isYaml(mediaType)
      ? { vary: vary === undefined ? "Accept" : `${vary}, Accept` }
      : undefined),
    ...(isShuttingDown ? { connection: "close" } : undefined)
  })
}
