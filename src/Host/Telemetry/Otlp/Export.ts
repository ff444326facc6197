/**
 * The export of all telemetry to one OTLP collector. Loaded only where there is one.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Redacted from "effect/Redacted"
import type { Scope } from "effect/Scope"
import type { LogRecord } from "../../Logging/LogRecord.ts"
import { maskUrl } from "../../Logging/SecretNames.ts"
import type { ResourceAttributes } from "../Resource.ts"
import type { Span } from "../Span.ts"
import type { TelemetryConfig } from "../TelemetryConfig.ts"
import * as Encoding from "./Encoding.ts"
import * as Exporter from "./Exporter.ts"
import { ExportTrouble } from "./ExportTrouble.ts"
import * as GrpcTransport from "./GrpcTransport.ts"
import * as HttpTransport from "./HttpTransport.ts"
import type { Signal } from "./Signal.ts"
import * as OtlpLog from "./OtlpLog.ts"
import * as OtlpMetric from "./OtlpMetric.ts"
import * as OtlpSpan from "./OtlpSpan.ts"
import { Attributes } from "./OtlpValue.ts"
import type { TlsOptions } from "./Transport.ts"

/** What is exported, and where to. */
export interface ExportOptions {
  readonly endpoint: string
  readonly config: TelemetryConfig["Service"]
  readonly tls: TlsOptions
  readonly resource: ResourceAttributes
  readonly version: string
}

/** Takes what is to be exported, as far as it is. Metrics are read from the registry of the context. */
export interface Export {
  readonly span: ((span: Span) => void) | undefined
  readonly log: ((record: LogRecord) => void) | undefined
}

/** Exports until the scope closes, and then what is left. */
export const make = Effect.fnUntraced(function* (options: ExportOptions): Effect.fn.Return<Export, never, Scope> {
  const { config, resource } = options
  const endpoint = new URL(options.endpoint)
  const origin: Encoding.Origin = {
    resource: { attributes: new Attributes(Object.entries(resource)) },
    scope: { name: "layerhost", version: options.version }
  }
  const encoding = config.protocol === "http/json" ? Encoding.json(origin) : Encoding.protobuf(origin)
  const transport = config.protocol === "grpc" ? GrpcTransport : HttpTransport
  const send = yield* transport.make({
    endpoint,
    contentType: encoding.contentType,
    headers: {
      "user-agent": `OTel-OTLP-Exporter-layerhost/${options.version}`,
      ...Object.fromEntries(config.headers.map(({ name, value }) => [name.toLowerCase(), Redacted.value(value)]))
    },
    tls: options.tls,
    timeout: config.timeout
  })
  const { shutdownTimeout, timeout } = config
  const common = { encoding, send, trouble: new ExportTrouble(maskUrl(endpoint)), timeout, shutdownTimeout }
  const exporterOf = <S extends Signal>(signal: S) =>
    config[signal] ? Exporter.make({ ...common, signal }) : Effect.undefined
  const traces = yield* exporterOf("traces")
  const metrics = yield* exporterOf("metrics")
  const logs = yield* exporterOf("logs")

  const addMetrics = metrics === undefined ? Effect.void : yield* snapshotInto(metrics)
  if (metrics !== undefined) {
    yield* Effect.sleep(config.metricsInterval).pipe(Effect.andThen(addMetrics), Effect.forever, Effect.forkScoped)
  }
  const drains = [traces, metrics, logs].flatMap((exporter) => (exporter === undefined ? [] : [exporter.drain]))
  yield* Effect.addFinalizer(() =>
    Effect.andThen(addMetrics, Effect.all(drains, { concurrency: "unbounded", discard: true }))
  )
  return {
    span: traces && ((span) => traces.add(() => OtlpSpan.make(span))),
    log: logs && ((record) => logs.add(() => OtlpLog.make(record)))
  }
})

/** Hands a snapshot of all metrics over, each time it is run. */
const snapshotInto = Effect.fnUntraced(function* (exporter: Exporter.Exporter<"metrics">) {
  const context = yield* Effect.context<never>()
  const clock = yield* Clock.Clock
  const start = clock.currentTimeNanosUnsafe()
  return Effect.sync(() => {
    const snapshots = Metric.snapshotUnsafe(context)
    for (const metric of OtlpMetric.make(snapshots, start, clock.currentTimeNanosUnsafe())) exporter.add(() => metric)
  })
})
