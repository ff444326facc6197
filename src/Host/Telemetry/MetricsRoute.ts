/** `GET /metrics`: every metric of the process as Prometheus reads it. */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as PrometheusText from "./PrometheusText.ts"

/** The route; `target` describes the service in the metric `target_info`. */
export const make = (target: PrometheusText.Target): HttpRouter.Route<never, never> =>
  HttpRouter.route("GET", "/metrics", (request) =>
    Effect.map(Metric.snapshot, (snapshots) => {
      const format = formatFor(request.headers["accept"])
      return HttpServerResponse.text(PrometheusText.format(snapshots, format, target), {
        contentType: PrometheusText.contentTypes[format],
        headers: { "cache-control": "no-store", vary: "Accept" }
      })
    })
  )

/** OpenMetrics 1.0 where the scraper names it and does not like the text format better; else the text format. */
export const formatFor = (accept: string | undefined): PrometheusText.TextFormat => {
  let openMetrics = 0
  let text = 0
  for (const range of accept?.toLowerCase().split(",") ?? []) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim())
    const parameter = (name: string) => parameters.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1)
    const quality = Number(parameter("q") ?? 1)
    if (type === "text/plain") text = Math.max(text, quality)
    if (type === "application/openmetrics-text" && [undefined, "1.0.0"].includes(parameter("version"))) {
      openMetrics = Math.max(openMetrics, quality)
    }
  }
  return openMetrics > 0 && openMetrics >= text ? "openmetrics" : "prometheus"
}
