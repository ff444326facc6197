/**
 * The way of every request through the host, in one frame around the plugins' middleware and the routes.
 *
 * In: forwarded headers, request id, span, rate limit, CORS preflights, compressed bodies, body limit, YAML body to JSON. Out:
 * failures to problems, JSON to YAML where the client asks for it, the host's headers, CORS, compression, 304 for what the
 * client has; then span, metrics and the request log.
 */
import * as ByteSize from "effect/ByteSize"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { MaxBodySize } from "effect/http/HttpIncomingMessage"
import * as HttpMethod from "effect/http/HttpMethod"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import type { Scope } from "effect/Scope"
import { ParentSpan } from "effect/Tracer"
import * as RequestDecompression from "../Compression/RequestDecompression.ts"
import type { Compress } from "../Compression/ResponseCompression.ts"
import * as Vary from "../Compression/Vary.ts"
import { withWeakEtag } from "../Compression/WeakEtag.ts"
import type { Cors } from "../Cors/Cors.ts"
import * as ForwardedHeaders from "../ForwardedHeaders/ForwardedHeaders.ts"
import type { RateLimiter, Refused } from "../RateLimiting/RateLimiter.ts"
import type { Span } from "../Telemetry/Span.ts"
import type * as Tracer from "../Telemetry/Tracer.ts"
import type { ServerLimits } from "../Tls/ServerLimits.ts"
import * as ConditionalRequest from "./ConditionalRequest.ts"
import { CurrentRequest, type RequestState } from "./CurrentRequest.ts"
import * as Failure from "./Failure.ts"
import type { HttpMetrics } from "./HttpMetrics.ts"
import * as MediaType from "./MediaType.ts"
import * as Problem from "./Problem.ts"
import * as BodyBytes from "./BodyBytes.ts"
import * as RequestBody from "./RequestBody.ts"
import * as RequestHead from "./RequestHead.ts"
import * as RequestId from "./RequestId.ts"
import type * as RequestLog from "./RequestLog.ts"
import * as ResponseHeaders from "./ResponseHeaders.ts"
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
  /** Writes the line of the request log. */
  readonly log: (answered: RequestLog.Answered) => void
}

/** Everything that a request meets: the pipeline around the handler of the plugins' middleware and routes. */
export type HttpEffect = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest | Scope>

/** A request on its way through the pipeline, and what was found out about it. */
interface Exchange extends RequestState {
  readonly request: HttpServerRequest
  readonly ends: ForwardedHeaders.Ends
  readonly clock: Clock.Clock
  /** When the request came, in nanoseconds since the epoch. */
  readonly start: bigint
  readonly span: Span | undefined
  /** Headers that the answer gets whatever it is. */
  limitHeaders: Readonly<Record<string, string>> | undefined
  /** Why the handler failed, where it did. */
  failure: Cause.Cause<unknown> | undefined
}

/**
 * Puts the pipeline around a handler.
 *
 * Nearly all requests pass all steps but the handler without waiting, so those steps are plain calls, and what may wait is
 * joined by Effect's eager operators, which make no continuation where nothing waits.
 */
export const make = (
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, HttpServerRequest | Scope>,
  options: PipelineOptions
): HttpEffect => {
  const { limits, maxRequestSize, metrics, rateLimiter, tracer } = options
  const maxBodySize = ByteSize.bytes(maxRequestSize)

  const open = (context: Context.Context<never>, clock: Clock.Clock): Exchange => {
    const incoming = Context.getUnsafe(context as Context.Context<HttpServerRequest>, HttpServerRequest)
    const start = clock.currentTimeNanosUnsafe()
    const ends = options.forwarded.endsOf(incoming)
    const request = ForwardedHeaders.apply(incoming, ends)
    metrics.begin()
    return {
      request,
      ends,
      clock,
      start,
      requestId: RequestId.fromHeader(request.headers[RequestId.header]),
      span: tracer?.beginRequest(request, start),
      route: undefined,
      plugin: undefined,
      limitHeaders: undefined,
      failure: undefined
    }
  }

  const limited = (exchange: Exchange): HttpEffect => {
    const { request } = exchange
    const { method, headers, url } = request
    const { clientAddress } = exchange.ends
    return Effect.flatMapEager(rateLimiter.check({ method, path: url, clientAddress, headers }), (decision) => {
      if (!decision.isAllowed) return refuseByLimit(exchange, decision)
      exchange.limitHeaders = decision.headers
      return admit(exchange)
    })
  }

  const refuseByLimit = (exchange: Exchange, { body, detail, headers, status }: Refused): HttpEffect =>
    body === undefined
      ? refuse(exchange, { status, detail, headers })
      : answer(exchange, HttpServerResponse.text(body.content, { status, headers, contentType: body.contentType }))

  const admit = (exchange: Exchange): HttpEffect => {
    const { request } = exchange
    const preflight = options.cors.preflight(request)
    if (preflight !== undefined) return answer(exchange, preflight)
    if (declaredLength(request) > maxRequestSize) {
      return refuse(exchange, Failure.bodyTooLarge(BodyBytes.tooLarge(maxRequestSize)))
    }
    if (!HttpMethod.hasBody(request.method)) return handle(exchange, request)
    const decoded = RequestDecompression.decoded(request, maxRequestSize)
    return Result.isSuccess(decoded)
      ? handle(exchange, RequestBody.checked(decoded.success, maxRequestSize, limits.maxRequestValues))
      : refuse(exchange, decoded.failure)
  }

  const handle = (exchange: Exchange, request: HttpServerRequest): HttpEffect =>
    Effect.withFiber((fiber) => {
      // The root of the request restores the context when the request ends.
      fiber.setContext(Context.add(fiber.context, HttpServerRequest, request))
      return Effect.matchCauseEffect(handler, {
        onFailure: (cause) => {
          exchange.failure = cause
          return Effect.flatMapEager(
            Failure.toResponse(cause, exchange.request, occurrenceOf(exchange), options),
            (response) => answer(exchange, response)
          )
        },
        onSuccess: (response) => {
          if (response.status >= 400) return answer(exchange, Problem.complete(response, occurrenceOf(exchange)))
          const refused = refusedType(response, request)
          return refused === undefined ? answer(exchange, response) : refuse(exchange, Failure.notAcceptable([refused]))
        }
      })
    })

  const refuse = (exchange: Exchange, problem: Problem.Problem): HttpEffect =>
    answer(exchange, Problem.toResponse(problem, occurrenceOf(exchange)))

  const answer = (exchange: Exchange, response: HttpServerResponse.HttpServerResponse): HttpEffect => {
    const { request } = exchange
    const accepted = asClientAccepts(response, request)
    const headers = ResponseHeaders.of(accepted)
    addHostHeaders(headers, exchange, options.isShuttingDown())
    options.cors.share(headers, request)
    return Effect.mapEager(options.compress(ResponseHeaders.put(accepted, headers), request), (compressed) => {
      const sent = ConditionalRequest.answer(compressed, request)
      close(exchange, sent)
      return sent
    })
  }

  const close = (exchange: Exchange, response: HttpServerResponse.HttpServerResponse): void => {
    const { clock, ends, failure, request, requestId, span, start } = exchange
    const { clientAddress, scheme } = ends
    const { status } = response
    // Who is refused on the way does not come to its route.
    const route = exchange.route ?? options.templateOf(request.method, request.url)
    const end = clock.currentTimeNanosUnsafe()
    const seconds = Number(end - start) / 1e9
    if (span !== undefined) {
      tracer!.endRequest(span, request, { status, route, requestId, clientAddress, scheme, cause: failure }, end)
    }
    metrics.end(request.method, route, status, seconds)
    const time = clock.currentTimeMillisUnsafe()
    options.log({ request, response, requestId, route, clientAddress, span, time, seconds })
  }

  return Effect.withFiber((fiber) => {
    const exchange = open(fiber.context, fiber.getRef(Clock.Clock))
    let context = Context.add(fiber.context, CurrentRequest, exchange)
    if (exchange.span !== undefined) context = Context.add(context, ParentSpan, exchange.span)
    fiber.setContext(Context.add(context, MaxBodySize, maxBodySize))
    const unfit = RequestHead.problemOf(exchange.request, limits)
    if (unfit !== undefined) return refuse(exchange, unfit)
    return rateLimiter.isEnabled ? limited(exchange) : admit(exchange)
  })
}

const occurrenceOf = ({ clock, requestId, span }: Exchange): Problem.Occurrence => ({
  timestamp: new Date(clock.currentTimeMillisUnsafe()).toISOString(),
  requestId,
  traceId: span?.traceId
})

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
    : withWeakEtag(
        HttpServerResponse.setBody(
          response,
          HttpServerResponse.text(yaml, { contentType: MediaType.yamlOf(mediaType) }).body
        )
      )
}

const addHostHeaders = (
  headers: ResponseHeaders.ResponseHeaders,
  { limitHeaders, requestId }: Exchange,
  isShuttingDown: boolean
): void => {
  for (const name in limitHeaders) headers[name] = limitHeaders[name]!
  headers[RequestId.header] = requestId
  const mediaType = MediaType.essence(headers["content-type"] ?? "")
  // Caches must not give one client's media type to another.
  if (MediaType.isJson(mediaType) || MediaType.isYaml(mediaType)) headers["vary"] = Vary.add(headers["vary"], "Accept")
  if (isShuttingDown) headers["connection"] = "close"
}
