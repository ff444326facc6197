/** `GET /metrics`: every metric of the process as Prometheus reads it. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as PrometheusMetrics from "effect/observability/PrometheusMetrics"

/** The Prometheus text format, https://prometheus.io/docs/instrumenting/exposition_formats/ */
const contentType = "text/plain; version=0.0.4; charset=utf-8"

/** Prometheus names carry the unit; OpenTelemetry's names do not. */
const toPrometheusName = (name: string): string => (name.endsWith(".duration") ? `${name}_seconds` : name)

/** The path of the route. */
export const path = "/metrics"

/** The route. */
export const route = HttpRouter.route(
  "GET",
  path,
  Effect.map(PrometheusMetrics.format({ metricNameMapper: toPrometheusName }), (text) =>
    HttpServerResponse.text(text, { contentType, headers: { "cache-control": "no-store" } })
  )
)
