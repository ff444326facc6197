/**
 * Metrics of the requests that the host serves, by the names of OpenTelemetry's semantic conventions
 * (https://opentelemetry.io/docs/specs/semconv/http/http-metrics/).
 */
import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"

/** The bucket boundaries that the conventions advise, in seconds. */
const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

const duration = Metric.histogram("http.server.request.duration", {
  description: "Duration of HTTP server requests.",
  boundaries,
  attributes: { unit: "s" }
})

const activeRequests = Metric.counter("http.server.active_requests", {
  description: "Number of HTTP server requests that are being handled.",
  attributes: { unit: "{request}" }
})

/** The methods that get a label of their own; any other counts as `_OTHER`, so that clients cannot make new series. */
const knownMethods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "CONNECT", "TRACE"])

/** Counts requests; the series of each label set is resolved once. */
export class HttpMetrics {
  readonly #context: Context.Context<never>
  readonly #durations = new Map<string, Metric.Metric<number, unknown>>()

  constructor(context: Context.Context<never>) {
    this.#context = context
  }

  /** Notes that a request came in. */
  begin(): void {
    activeRequests.updateUnsafe(1, this.#context)
  }

  /** Notes that a request was answered. */
  end(method: string, route: string | undefined, status: number, seconds: number): void {
    activeRequests.updateUnsafe(-1, this.#context)
    const name = knownMethods.has(method) ? method : "_OTHER"
    const key = `${name} ${status} ${route ?? ""}`
    let series = this.#durations.get(key)
    if (series === undefined) {
      series = Metric.withAttributes(duration, {
        "http.request.method": name,
        "http.response.status_code": String(status),
        ...(route === undefined ? undefined : { "http.route": route })
      })
      this.#durations.set(key, series)
    }
    series.updateUnsafe(seconds, this.#context)
  }
}
