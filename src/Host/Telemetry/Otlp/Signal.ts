/** What OTLP calls the three kinds of telemetry in paths, services and messages. */

/** One of the kinds of telemetry. */
export type Signal = "traces" | "metrics" | "logs"

/** The words for a kind. */
export interface SignalNames {
  /** Behind the endpoint's path, over HTTP. */
  readonly path: string
  /** The method of the service, over gRPC. */
  readonly method: string
  /** The fields, from the request down to its items, in JSON. */
  readonly fields: readonly [resources: string, scopes: string, items: string]
  /** The field in which a collector says how many it refused, in JSON. */
  readonly rejected: string
}

/** The words for each kind. */
export const names: { readonly [S in Signal]: SignalNames } = {
  traces: {
    path: "/v1/traces",
    method: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    fields: ["resourceSpans", "scopeSpans", "spans"],
    rejected: "rejectedSpans"
  },
  metrics: {
    path: "/v1/metrics",
    method: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
    fields: ["resourceMetrics", "scopeMetrics", "metrics"],
    rejected: "rejectedDataPoints"
  },
  logs: {
    path: "/v1/logs",
    method: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    fields: ["resourceLogs", "scopeLogs", "logRecords"],
    rejected: "rejectedLogRecords"
  }
}
