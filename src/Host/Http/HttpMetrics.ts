/**
 * Metrics of the requests that the host serves, by the names of OpenTelemetry's semantic conventions
 * (https://opentelemetry.io/docs/specs/semconv/http/http-metrics/).
 */
import type * as Context from "effect/Context"
import { boundaries } from "../../Plugins/HttpClientMetric.ts"
import * as MethodName from "../Telemetry/MethodName.ts"
import * as Series from "../Telemetry/Series.ts"

/** The series of one route, by status and then by method. */
type RouteSeries = Map<number, Map<string, Series.Histogram>>

/** Counts requests. */
export class HttpMetrics {
  readonly #context: Context.Context<never>
  readonly #active: Series.Counter
  readonly #durations = new Map<string | undefined, RouteSeries>()

  constructor(context: Context.Context<never>) {
    this.#context = context
    this.#active = Series.counter(
      "http.server.active_requests",
      {
        description: "Number of HTTP server requests that are being handled.",
        attributes: { unit: "{request}" },
        incremental: false
      },
      context
    )
  }

  /** Notes that a request came in. */
  begin(): void {
    this.#active.add(1)
  }

  /** Notes that a request was answered. */
  end(method: string, route: string | undefined, status: number, seconds: number): void {
    this.#active.add(-1)
    const series = this.#durations.get(route)?.get(status)?.get(method) ?? this.#find(method, route, status)
    series.record(seconds)
  }

  #find(method: string, route: string | undefined, status: number): Series.Histogram {
    const name = MethodName.of(method)
    const byStatus: RouteSeries = this.#durations.get(route) ?? new Map()
    const byMethod = byStatus.get(status) ?? new Map<string, Series.Histogram>()
    let series = byMethod.get(name)
    if (series === undefined) {
      series = Series.histogram(
        "http.server.request.duration",
        {
          description: "Duration of HTTP server requests.",
          boundaries,
          attributes: {
            unit: "s",
            "http.request.method": name,
            "http.response.status_code": String(status),
            ...(route === undefined ? undefined : { "http.route": route })
          }
        },
        this.#context
      )
      this.#durations.set(route, byStatus.set(status, byMethod.set(name, series)))
    }
    return series
  }
}
