/**
 * The tracer of the host: makes the spans of user code, and the span of each request.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as EffectTracer from "effect/Tracer"
import { pathOf } from "../Http/RequestTarget.ts"
import * as MethodName from "./MethodName.ts"
import * as Sampler from "./Sampler.ts"
import { RemoteSpan, Span } from "./Span.ts"
import * as TraceContext from "./TraceContext.ts"

/** How spans are made. */
export interface TracerOptions {
  /** The share of traces to record, of those that nobody else has decided on. */
  readonly sampleRatio: number
  /** Whether requests to this path are left out. */
  readonly isExcluded: (path: string) => boolean
  /** Takes every recorded span that ended. */
  readonly onEnd: (span: Span) => void
}

/** A request as its span tells it. */
export interface TracedRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: TraceContext.Headers
}

/** An answer as the span of its request tells it. */
export interface TracedResponse {
  readonly status: number
  /** The template of the route, for example `/items/{id}`; absent where none matched. */
  readonly route: string | undefined
  readonly requestId: string
  readonly clientAddress: string | undefined
  /** `http` or `https`, as the client sees it; absent where that is not known. */
  readonly scheme?: string | undefined
  /** What went wrong, where the answer is that of a failure. */
  readonly cause?: Cause.Cause<unknown> | undefined
}

/** Makes spans. */
export interface Tracer {
  /** For `effect/Tracer`: the spans of user code and of plugins. */
  readonly effectTracer: EffectTracer.Tracer
  /**
   * Begins the span of a request. Whether it is recorded is decided first; one that is not costs next to nothing, and is a
   * parent all the same, so that nothing beneath it is recorded either.
   */
  readonly beginRequest: (request: TracedRequest, startTime: bigint) => Span
  /** Ends the span of a request. */
  readonly endRequest: (span: Span, request: TracedRequest, response: TracedResponse, endTime: bigint) => void
}

/** Makes the tracer. */
export const make = (options: TracerOptions): Tracer => {
  const { onEnd } = options
  const sample = Sampler.make(options.sampleRatio)

  return {
    effectTracer: EffectTracer.make({
      // Effect hands the decision of a parent on; a trace that begins here is decided here.
      span: (span) => {
        if (Option.isNone(span.parent)) return new Span({ ...span, sampled: span.sampled && sample(undefined) }, onEnd)
        const parent = span.parent.value
        // What is not recorded beneath a span that is not recorded either needs no ids of its own.
        return !span.sampled && parent instanceof Span && !parent.sampled ? parent : new Span(span, onEnd)
      }
    }),

    beginRequest: (request, startTime) => {
      const context = TraceContext.extract(request.headers)
      const sampled = (context.sampled ?? sample(context.traceId)) && !options.isExcluded(pathOf(request.url))
      return new Span(
        {
          name: request.method,
          parent: hasIds(context) ? Option.some(new RemoteSpan(context, sampled)) : Option.none(),
          annotations: Context.empty(),
          links: [],
          startTime,
          kind: "server",
          sampled,
          debug: context.debug
        },
        onEnd
      )
    },

    endRequest: (span, request, response, endTime) => {
      if (!span.sampled) return
      describe(span, request, response)
      span.end(endTime, response.status < 500 ? Exit.void : Exit.failCause(response.cause ?? noCause))
    }
  }
}

const noCause = Cause.fail(undefined)

const hasIds = (
  context: TraceContext.TraceContext
): context is TraceContext.TraceContext & { readonly traceId: string; readonly spanId: string } =>
  context.traceId !== undefined && context.spanId !== undefined

/** Name and attributes of https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server. */
const describe = (span: Span, request: TracedRequest, response: TracedResponse): void => {
  const { headers, method } = request
  const name = MethodName.of(method)
  span.name = `${name === MethodName.other ? "HTTP" : name}${response.route === undefined ? "" : ` ${response.route}`}`
  span.attribute("http.request.method", name)
  if (name === MethodName.other) span.attribute("http.request.method_original", method)
  // The query is left out: it may hold secrets.
  span.attribute("url.path", pathOf(request.url))
  if (response.scheme !== undefined) span.attribute("url.scheme", response.scheme)
  span.attribute("http.response.status_code", response.status)
  if (response.route !== undefined) span.attribute("http.route", response.route)
  if (response.clientAddress !== undefined) span.attribute("client.address", response.clientAddress)
  const host = hostOf(headers["host"])
  if (host !== undefined) {
    span.attribute("server.address", host.address)
    if (host.port !== undefined) span.attribute("server.port", host.port)
  }
  const userAgent = headers["user-agent"]
  if (userAgent !== undefined) span.attribute("user_agent.original", userAgent)
  span.attribute("http.request.id", response.requestId)
  if (response.status >= 500 && response.cause === undefined) span.attribute("error.type", String(response.status))
}

const hostHeader = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/

interface HostAndPort {
  readonly address: string
  readonly port: number | undefined
}

/** The header that was read last, which is the same for most requests. */
let lastHost: { readonly header: string; readonly host: HostAndPort | undefined } | undefined

const hostOf = (header: string | undefined): HostAndPort | undefined => {
  if (header === undefined) return undefined
  if (lastHost?.header !== header) lastHost = { header, host: readHost(header) }
  return lastHost.host
}

const readHost = (header: string): HostAndPort | undefined => {
  const [, name, port] = hostHeader.exec(header) ?? []
  return name === undefined
    ? undefined
    : { address: name.startsWith("[") ? name.slice(1, -1) : name, port: port === undefined ? undefined : Number(port) }
}
