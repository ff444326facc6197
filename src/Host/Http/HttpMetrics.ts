/**
 * Metrics of the requests that the host serves, by the names of OpenTelemetry's semantic conventions
 * (https://opentelemetry.io/docs/specs/semconv/http/http-metrics/).
 */
import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import * as MethodName from "../Telemetry/MethodName.ts"

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
    const name = MethodName.of(method)
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
