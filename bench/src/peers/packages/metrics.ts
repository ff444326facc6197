/** The metrics of requests with prom-client. */
import { collectDefaultMetrics, Gauge, Histogram, register } from "prom-client"

export const registry = register

collectDefaultMetrics()

export const duration = new Histogram({
  name: "http_server_request_duration_seconds",
  help: "Duration of requests",
  labelNames: ["method", "route", "status"]
})

export const activeRequests = new Gauge({ name: "http_server_active_requests", help: "Requests in flight" })
