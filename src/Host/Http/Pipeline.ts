/**
 * The way of every request through the host, in one frame around the plugins' middleware and the routes.
 *
 * In: forwarded headers, request id, span, rate limit, CORS preflights, compressed bodies, body limit, YAML body to JSON. Out:
 * failures to problems, JSON to YAML where the client asks for it, the host's headers, CORS, compression, 304 for what the
 * client has; then span, metrics and the request log.
 */
import * as ByteSize from "effect/ByteSize"
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
import type * as Tracer from "../Telemetry/Tracer.ts"
import type { ServerLimits } from "../Tls/ServerLimits.ts"
import * as ConditionalRequest from "./ConditionalRequest.ts"
import { CurrentRequest } from "./CurrentRequest.ts"
import { Exchange } from "./Exchange.ts"
import * as Failure from "./Failure.ts"
import type { HttpMetrics } from "./HttpMetrics.ts"
import * as MediaType from "./MediaType.ts"
import * as Problem from "./Problem.ts"
import * as BodyBytes from "./BodyBytes.ts"
import * as RequestBody from "./RequestBody.ts"
import * as RequestHead from "./RequestHead.ts"
import * as RequestId from "./RequestId.ts"
import type * as RequestLog from "./RequestLog.ts"
import { pathOf } from "./RequestTarget.ts"
import * as ResponseHeaders from "./ResponseHeaders.ts"
import type { Handler } from "./Route.ts"
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

/** The pipeline, in one, and in the parts that whoever does without an effect for each request puts together. */
export interface Pipeline {
  /** What every request meets. */
  readonly httpEffect: HttpEffect
  /** Begins with a request: from here on it is counted, until it is closed. */
  readonly open: (head: RequestHead.RequestHead, ends: ForwardedHeaders.Ends, clock: Clock.Clock) => Exchange
  /** The answer to a request that the rate limiter does not let go on; absent where it may, maybe only once that is known. */
  readonly refusal: (exchange: Exchange) => Effect.Effect<HttpServerResponse.HttpServerResponse | undefined>
  /** Runs a handler, and answers whatever it ends with. */
  readonly run: (
    exchange: Exchange,
    handler: Handler
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, any>
  /** Makes an answer what is sent, and closes the exchange. */
  readonly answer: (
    exchange: Exchange,
    response: HttpServerResponse.HttpServerResponse
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse>
  /** What {@link Pipeline.answer} makes of an answer, with nothing closed. */
  readonly dress: (
    exchange: Exchange,
    response: HttpServerResponse.HttpServerResponse
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse>
  /** Ends with a request: span, metrics, log. `bytes` is the size of the body, where it is known. */
  readonly close: (exchange: Exchange, status: number, bytes: number | undefined) => void
}

/**
 * Puts the pipeline around a handler.
 *
 * Nearly all requests pass all steps but the handler without waiting, so those steps are plain calls, and what may wait is
 * joined by Effect's eager operators, which make no continuation where nothing waits.
 */
export const make = (handler: Handler, options: PipelineOptions): Pipeline => {
  const { limits, maxRequestSize, metrics, rateLimiter, tracer } = options
  const maxBodySize = ByteSize.bytes(maxRequestSize)

  const open: Pipeline["open"] = (head, ends, clock) => {
    const start = clock.currentTimeNanosUnsafe()
    metrics.begin()
    const requestId = RequestId.fromHeader(head.headers[RequestId.header])
    return new Exchange(head, ends, clock, start, requestId, tracer?.beginRequest(head, start))
  }

  const refusal: Pipeline["refusal"] = (exchange) => {
    if (!rateLimiter.isEnabled) return Effect.undefined
    return Effect.flatMapEager(rateLimiter.decide(exchange, exchange.clock.currentTimeMillisUnsafe()), (decision) => {
      if (!decision.isAllowed) return refuseByLimit(exchange, decision)
      exchange.limitHeaders = decision.headers
      return Effect.undefined
    })
  }

  const refuseByLimit = (
    exchange: Exchange,
    { body, detail, headers, status }: Refused
  ): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    body === undefined
      ? refuse(exchange, { status, detail, headers })
      : answer(exchange, HttpServerResponse.text(body.content, { status, headers, contentType: body.contentType }))

  const admit = (exchange: Exchange, request: HttpServerRequest): HttpEffect => {
    const preflight = options.cors.preflight(exchange)
    if (preflight !== undefined) return answer(exchange, preflight)
    if (declaredLength(exchange) > maxRequestSize) {
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
      return run(exchange, handler)
    })

  const run: Pipeline["run"] = (exchange, handler) =>
    Effect.matchCauseEffectEager(handler, {
      onFailure: (cause) => {
        exchange.failure = cause
        return Effect.flatMapEager(Failure.toResponse(cause, exchange, exchange.occurrence, options), (response) =>
          answer(exchange, response)
        )
      },
      onSuccess: (response) => {
        if (response.status >= 400) return answer(exchange, Problem.complete(response, exchange.occurrence))
        const refused = refusedType(response, exchange)
        return refused === undefined ? answer(exchange, response) : refuse(exchange, Failure.notAcceptable([refused]))
      }
    })

  const refuse = (exchange: Exchange, problem: Problem.Problem) =>
    answer(exchange, Problem.toResponse(problem, exchange.occurrence))

  const answer: Pipeline["answer"] = (exchange, response) =>
    Effect.mapEager(dress(exchange, response), (sent) => {
      const { body } = sent
      close(exchange, sent.status, "contentLength" in body ? body.contentLength : undefined)
      return sent
    })

  const dress: Pipeline["dress"] = (exchange, response) => {
    const accepted = asClientAccepts(response, exchange)
    const headers = ResponseHeaders.of(accepted)
    addHostHeaders(headers, exchange, options.isShuttingDown())
    options.cors.share(headers, exchange)
    return Effect.mapEager(options.compress(ResponseHeaders.put(accepted, headers), exchange), (compressed) =>
      ConditionalRequest.answer(compressed, exchange)
    )
  }

  const close: Pipeline["close"] = (exchange, status, bytes) => {
    exchange.isClosed = true
    const { clientAddress, clock, method, requestId, span, start, url } = exchange
    // Who is refused on the way does not come to its route.
    const route = exchange.route ?? options.templateOf(method, url)
    const end = clock.currentTimeNanosUnsafe()
    const seconds = Number(end - start) / 1e9
    if (span !== undefined) {
      const { scheme } = exchange.ends
      tracer!.endRequest(
        span,
        exchange,
        { status, route, requestId, clientAddress, scheme, cause: exchange.failure },
        end
      )
    }
    metrics.end(method, route, status, seconds)
    const time = clock.currentTimeMillisUnsafe()
    options.log({ method, url, path: pathOf(url), requestId, route, clientAddress, span, status, bytes, time, seconds })
  }

  const httpEffect: HttpEffect = Effect.withFiber((fiber) => {
    const incoming = Context.getUnsafe(fiber.context as Context.Context<HttpServerRequest>, HttpServerRequest)
    const ends = options.forwarded.endsOf(incoming)
    const request = ForwardedHeaders.apply(incoming, ends)
    const exchange = open(request, ends, fiber.getRef(Clock.Clock))
    let context = Context.add(fiber.context, CurrentRequest, exchange)
    if (exchange.span !== undefined) context = Context.add(context, ParentSpan, exchange.span)
    fiber.setContext(Context.add(context, MaxBodySize, maxBodySize))
    const unfit = RequestHead.problemOf(exchange, request.source, limits)
    if (unfit !== undefined) return refuse(exchange, unfit)
    return Effect.flatMapEager(refusal(exchange), (refused) =>
      refused === undefined ? admit(exchange, request) : Effect.succeed(refused)
    )
  })

  return { httpEffect, open, refusal, run, answer, dress, close }
}

const declaredLength = ({ headers }: RequestHead.RequestHead): number => {
  const length = headers["content-length"]
  return length === undefined ? 0 : Number(length)
}

/**
 * The type of an answer that its client does not take. Raw routes do not say beforehand what they answer with; where one has
 * changed something, that it did matters more than how it is told.
 */
const refusedType = (
  { body, headers, status }: HttpServerResponse.HttpServerResponse,
  request: RequestHead.RequestHead
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
  request: RequestHead.RequestHead
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
