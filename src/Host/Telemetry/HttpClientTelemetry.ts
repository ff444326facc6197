/**
 * What the host adds to the HTTP client that plugins use: a metric of outgoing requests by the names of OpenTelemetry's
 * semantic conventions (https://opentelemetry.io/docs/specs/semconv/http/http-metrics/#http-client), and the trace in every
 * header form. The span of a request is Effect's own.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { constTrue } from "effect/Function"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import type * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { AnySpan } from "effect/Tracer"
import * as HttpClientMetric from "../../Plugins/HttpClientMetric.ts"
import * as MethodName from "./MethodName.ts"
import { Span } from "./Span.ts"
import * as TraceContext from "./TraceContext.ts"

/** The client of a layer, with the host's telemetry around it. */
export const layer = <E, R>(
  client: Layer.Layer<HttpClient.HttpClient, E, R>
): Layer.Layer<HttpClient.HttpClient, E, R> =>
  Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, make)).pipe(Layer.provide(client))

/** A client that sends its requests through the given one. */
export const make = (client: HttpClient.HttpClient): HttpClient.HttpClient => {
  const inner = HttpClient.withScope(client)
  const series = new DurationSeries()

  return HttpClient.make((request, url, signal) =>
    Effect.withFiber((fiber) => {
      // Effect has made the span already, and has set the headers that it knows.
      const isPropagated =
        fiber.getRef(HttpClient.TracerPropagationEnabled) && !fiber.getRef(HttpClient.TracerDisabledWhen)(request)
      const propagated = isPropagated ? withTrace(request, fiber.cache.span) : request
      const clock = fiber.getRef(Clock.Clock)
      const start = clock.currentTimeNanosUnsafe()
      return inner.execute(propagated).pipe(
        Effect.provideContext(
          Context.make(HttpClient.TracerDisabledWhen, constTrue).pipe(
            Context.add(Scope.Scope, scopeUntilAborted(signal))
          )
        ),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            const seconds = Number(clock.currentTimeNanosUnsafe() - start) / 1e9
            series.of(MethodName.of(request.method), url, outcomeOf(exit)).updateUnsafe(seconds, fiber.context)
          })
        )
      )
    })
  )
}

const withTrace = (
  request: HttpClientRequest.HttpClientRequest,
  span: AnySpan | undefined
): HttpClientRequest.HttpClientRequest =>
  span instanceof Span
    ? HttpClientRequest.setHeaders(request, TraceContext.inject(span))
    : span?.traceId === "noop"
      ? // Where tracing is switched off Effect sends ids that are none.
        request.pipe(HttpClientRequest.removeHeader("b3"), HttpClientRequest.removeHeader("traceparent"))
      : request

/** The inner request lives until the outer one is aborted, which Effect does when nobody can read the answer any more. */
const scopeUntilAborted = (signal: AbortSignal): Scope.Scope => {
  const scope = Scope.makeUnsafe()
  const close = () => {
    Effect.runFork(Scope.close(scope, Exit.void))
  }
  if (signal.aborted) close()
  else signal.addEventListener("abort", close, { once: true })
  return scope
}

/** The status of the answer, or the word for why there is none. */
const outcomeOf = (exit: Exit.Exit<HttpClientResponse, HttpClientError.HttpClientError>): number | string => {
  if (Exit.isSuccess(exit)) return exit.value.status
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  return error === undefined ? "Interrupt" : error.reason._tag
}

/** The servers that get series of their own; all others share one, so that a service that calls any URL stays bounded. */
export const maxServers = 100

class DurationSeries {
  readonly #series = new Map<string, HttpClientMetric.Series>()
  readonly #others = HttpClientMetric.seriesOf({ "server.address": "_OTHER" })

  of(method: string, url: URL, outcome: number | string): Metric.Metric<number, unknown> {
    let series = this.#series.get(url.host)
    if (series === undefined) {
      if (this.#series.size >= maxServers) return this.#others(method, outcome)
      series = HttpClientMetric.seriesOf(HttpClientMetric.serverOf(url))
      this.#series.set(url.host, series)
    }
    return series(method, outcome)
  }
}
