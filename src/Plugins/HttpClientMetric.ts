/**
 * The metric of outgoing requests, by the names of OpenTelemetry's semantic conventions
 * (https://opentelemetry.io/docs/specs/semconv/http/http-metrics/#http-client): for the client that the host gives to plugins,
 * and for a plugin that sends requests in another way.
 */
import * as Metric from "effect/Metric"

/** The bucket boundaries that the conventions advise for durations of requests, in seconds. */
export const boundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

const duration = Metric.histogram("http.client.request.duration", {
  description: "Duration of HTTP client requests.",
  boundaries,
  attributes: { unit: "s" }
})

/** The attributes that name a server. */
export const serverOf = (url: URL): { readonly "server.address": string; readonly "server.port": string } => ({
  "server.address": url.hostname.replace(/^\[|\]$/g, ""),
  "server.port": url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port
})

/** The series of one server, in seconds: by the method, and by the status of the answer or the word for why there is none. */
export type Series = (method: string, outcome: number | string) => Metric.Metric<number, unknown>

/** {@link Series} of the server that has the given attributes, each of which is looked up once. */
export const seriesOf = (server: { readonly [name: string]: string }): Series => {
  const known = new Map<string, Metric.Metric<number, unknown>>()
  return (method, outcome) => {
    const key = `${method} ${outcome}`
    let series = known.get(key)
    if (series === undefined) {
      series = Metric.withAttributes(duration, {
        "http.request.method": method,
        ...server,
        ...(typeof outcome === "number" ? { "http.response.status_code": String(outcome) } : undefined),
        ...(typeof outcome === "number" && outcome < 400 ? undefined : { "error.type": String(outcome) })
      })
      known.set(key, series)
    }
    return series
  }
}
