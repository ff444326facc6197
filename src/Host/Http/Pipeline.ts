/**
 * The way of every request through the host, in one frame around the plugins' middleware and the routes.
 *
 * In: forwarded headers, request id, span, rate limit, CORS preflights, compressed bodies, body limit, YAML body to JSON. Out:
 * failures to problems, JSON to YAML where the client asks for it, the host's headers, CORS, compression; then span, metrics
 * and the request log.
 */
import * as ByteSize from "effect/ByteSize"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import { MaxBodySize } from "effect/http/HttpIncomingMessage"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as References from "effect/References"
import * as Result from "effect/Result"
import type { Scope } from "effect/Scope"
import { ParentSpan } from "effect/Tracer"
import * as RequestDecompression from "../Compression/RequestDecompression.ts"
import type { Compress } from "../Compression/ResponseCompression.ts"
import * as Vary from "../Compression/Vary.ts"
import type { Cors } from "../Cors/Cors.ts"
import * as ForwardedHeaders from "../ForwardedHeaders/ForwardedHeaders.ts"
import type { RateLimiter } from "../RateLimiting/RateLimiter.ts"
import type * as Tracer from "../Telemetry/Tracer.ts"
import { hasTooManyHeaders, type ServerLimits } from "../Tls/ServerLimits.ts"
import { CurrentRequest, type RequestState } from "./CurrentRequest.ts"
import * as Failure from "./Failure.ts"
import type { HttpMetrics } from "./HttpMetrics.ts"
import * as MediaType from "./MediaType.ts"
import * as Problem from "./Problem.ts"
import * as RequestBody from "./RequestBody.ts"
import * as RequestId from "./RequestId.ts"
import * as RequestLog from "./RequestLog.ts"
import { pathOf } from "./RequestTarget.ts"
import * as Yaml from "./Yaml.ts"

/** What the pipeline needs of the host. Once it shuts down, connections are closed after their answer. */
export interface PipelineOptions extends Failure.FailureContext {
  readonly limits: ServerLimits
  readonly forwarded: ForwardedHeaders.ForwardedHeaders
  readonly rateLimiter: RateLimiter
  readonly cors: Cors
  readonly compress: Compress
  readonly metrics: HttpMetrics
  /** The template of the route that a request would come to; absent where there is none. */
  readonly templateOf: (method: string, url: string) => string | undefined
  /** Makes the spans of requests; absent where nobody would see them. */
  readonly tracer: Tracer.Tracer | undefined
  /** Whether requests to this path stay out of the request log. */
  readonly isUnlogged: (path: string) => boolean
  /** Whether the request log tells queries. */
  readonly logsQueries: boolean
}

/** Everything that a request meets: the pipeline around the handler of the plugins' middleware and routes. */
export type HttpEffect = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest | Scope>

/** Puts the pipeline around a handler. */
export const make = (
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, HttpServerRequest | Scope>,
  options: PipelineOptions
): HttpEffect => {
  const { maxRequestSize, metrics, tracer } = options
  const maxBodySize = ByteSize.bytes(maxRequestSize)

  return Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const start = clock.currentTimeNanosUnsafe()
    const incoming = Context.getUnsafe(fiber.context as Context.Context<HttpServerRequest>, HttpServerRequest)
    const ends = options.forwarded.endsOf(incoming)
    const request = ForwardedHeaders.apply(incoming, ends)
    const requestId = RequestId.fromHeader(request.headers[RequestId.header])
    const state: RequestState = { requestId, route: undefined }
    const span = tracer?.beginRequest(request, start)
    const occurrence = (): Problem.Occurrence => ({
      timestamp: new Date(clock.currentTimeMillisUnsafe()).toISOString(),
      requestId,
      traceId: span?.traceId
    })
    const refuse = (problem: Problem.Problem) => Effect.sync(() => Problem.toResponse(problem, occurrence()))
    let failure: Cause.Cause<unknown> | undefined
    metrics.begin()

    const decoded = RequestDecompression.decoded(request, maxRequestSize)
    const handled: HttpEffect = Effect.matchCauseEffect(handler, {
      onFailure: (cause) => {
        failure = cause
        return Failure.toResponse(cause, request, occurrence(), options)
      },
      onSuccess: (response) => {
        if (response.status >= 400) return Effect.succeed(Problem.complete(response, occurrence()))
        const refused = refusedType(response, request)
        return refused === undefined ? Effect.succeed(response) : refuse(Failure.notAcceptable([refused]))
      }
    })

    const admit = (): HttpEffect => {
      const preflight = options.cors.preflight(request)
      if (preflight !== undefined) return Effect.succeed(preflight)
      if (declaredLength(request) > maxRequestSize) {
        return refuse(Failure.bodyTooLarge(RequestBody.tooLarge(maxRequestSize)))
      }
      return Result.isFailure(decoded) ? refuse(decoded.failure) : handled
    }

    const answered = hasTooManyHeaders(request, options.limits)
      ? refuse(tooManyHeaders)
      : options.rateLimiter.isEnabled
        ? limited(options.rateLimiter, request, ends.clientAddress, admit, refuse)
        : admit()

    const sent = Effect.flatMap(answered, (answer) => {
      const full = withHostHeaders(asClientAccepts(answer, request), requestId, options.isShuttingDown())
      return options.compress(options.cors.share(full, request), request)
    })

    const finished = Effect.flatMap(sent, (response) => {
      const end = clock.currentTimeNanosUnsafe()
      const seconds = Number(end - start) / 1e9
      // Who is refused on the way does not come to its route.
      const route = state.route ?? options.templateOf(request.method, request.url)
      if (span !== undefined) {
        const { status } = response
        const { clientAddress, scheme } = ends
        const told = { status, route, requestId, clientAddress, scheme, cause: failure }
        tracer!.endRequest(span, request, told, end)
      }
      metrics.end(request.method, route, response.status, seconds)
      return options.isUnlogged(pathOf(request.url))
        ? Effect.succeed(response)
        : Effect.as(RequestLog.write({ request, response, route, seconds }, options.logsQueries), response)
    })

    const body = Result.isSuccess(decoded) ? decoded.success : request
    return Effect.provideContext(
      finished,
      Context.empty().pipe(
        Context.add(CurrentRequest, state),
        Context.add(HttpServerRequest, RequestBody.checked(body, maxRequestSize)),
        Context.add(MaxBodySize, maxBodySize),
        Context.add(References.CurrentLogAnnotations, { requestId }),
        span === undefined ? identity : Context.add(ParentSpan, span)
      )
    )
  })
}

const tooManyHeaders: Problem.Problem = {
  status: 431,
  detail: "The request has too many headers.",
  headers: { connection: "close" }
}

/** Asks the rate limiter first, whose headers go on the answer. */
const limited = (
  limiter: RateLimiter,
  request: HttpServerRequest,
  clientAddress: string | undefined,
  admit: () => HttpEffect,
  refuse: (problem: Problem.Problem) => HttpEffect
): HttpEffect =>
  Effect.flatMap(
    limiter.check({ method: request.method, path: request.url, clientAddress, headers: request.headers }),
    (decision) => {
      if (!decision.isAllowed) {
        const { body, detail, headers, status } = decision
        return body === undefined
          ? refuse({ status, detail, headers })
          : Effect.succeed(HttpServerResponse.text(body.content, { status, headers, contentType: body.contentType }))
      }
      const { headers } = decision
      return headers === undefined ? admit() : Effect.map(admit(), HttpServerResponse.setHeaders(headers))
    }
  )

const declaredLength = (request: HttpServerRequest): number => {
  const length = request.headers["content-length"]
  return length === undefined ? 0 : Number(length)
}

/**
 * The type of an answer that its client does not take. Raw routes do not say beforehand what they answer with; where one has
 * changed something, that it did matters more than how it is told.
 */
const refusedType = (
  { body, headers, status }: HttpServerResponse.HttpServerResponse,
  request: HttpServerRequest
): string | undefined => {
  const { accept } = request.headers
  if (accept === undefined || (request.method !== "GET" && request.method !== "HEAD")) return undefined
  if (status >= 300 || body._tag === "Empty") return undefined
  const mediaType = MediaType.essence(headers["content-type"] ?? "")
  return mediaType === "" || MediaType.admits(accept, mediaType) ? undefined : mediaType
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
  return HttpServerResponse.setHeaders(response, {
    [RequestId.header]: requestId,
    // Caches must not give one client's media type to another.
    ...(MediaType.isJson(mediaType) || MediaType.isYaml(mediaType)
      ? { vary: Vary.add(response.headers["vary"], "Accept") }
      : undefined),
    ...(isShuttingDown ? { connection: "close" } : undefined)
  })
}
