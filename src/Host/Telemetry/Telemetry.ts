/**
 * The host's telemetry: metrics always; traces where they are exported or shown; traces, metrics and log lines to a
 * collector where `telemetry:endpoint` names one.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpMiddleware from "effect/http/HttpMiddleware"
import * as Metric from "effect/Metric"
import * as References from "effect/References"
import type { Scope } from "effect/Scope"
import * as EffectTracer from "effect/Tracer"
import type { LogRecord } from "../Logging/LogRecord.ts"
import * as ExcludedPaths from "../Http/ExcludedPaths.ts"
import * as FiberMetrics from "./FiberMetrics.ts"
import type { Export } from "./Otlp/Export.ts"
import * as Observed from "./Observed.ts"
import * as ProcessMetrics from "./ProcessMetrics.ts"
import * as Resource from "./Resource.ts"
import * as RuntimeMetrics from "./RuntimeMetrics.ts"
import type { Span } from "./Span.ts"
import * as SpanTree from "./SpanTree.ts"
import type { TelemetryConfig } from "./TelemetryConfig.ts"
import * as Tls from "./Tls.ts"
import * as Tracer from "./Tracer.ts"

/** What the telemetry is made of. */
export interface TelemetryOptions {
  readonly config: TelemetryConfig["Service"]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The version of the host. */
  readonly version: string
  /** The ids of the plugins that the host runs. */
  readonly plugins: ReadonlyArray<string>
  /** A terminal that takes the trees of `telemetry:console`; absent where nobody reads. */
  readonly terminal?: { readonly write: (text: string) => void; readonly colors: boolean } | undefined
  /** Takes every span that ended. */
  readonly onSpan?: ((span: Span) => void) | undefined
}

/** The telemetry while the host lives. */
export interface Telemetry {
  /** What everything that the host runs needs in its context: the tracer, and Effect's own metrics switched on. */
  readonly services: Context.Context<never>
  /** Makes the spans of requests; absent where nobody would see them. */
  readonly tracer: Tracer.Tracer | undefined
  /** Takes the lines of the log; absent where nobody would see them. */
  readonly log: ((record: LogRecord) => void) | undefined
  /** Describes the service, in everything that is exported and in `/metrics`. */
  readonly resource: Resource.ResourceAttributes
}

/** Starts the telemetry; when the scope closes, what is left is exported, within `telemetry:shutdownTimeout`. */
export const make = Effect.fnUntraced(function* (
  options: TelemetryOptions
): Effect.fn.Return<Telemetry, Tls.TelemetryFileError, Scope> {
  const { config, terminal } = options
  const resource = Resource.make(config, options.environment, options.version)
  // Collected until the export has ended, which reads them once more.
  yield* RuntimeMetrics.collect
  yield* ProcessMetrics.collect()
  yield* Observed.register(options.plugins.map(pluginMetric))
  const exported = yield* exportTo(options, resource)

  const takers: Array<(span: Span) => void> = []
  if (exported?.span !== undefined) takers.push(exported.span)
  if (options.onSpan !== undefined) takers.push(options.onSpan)
  if (config.console && terminal !== undefined) takers.push(SpanTree.make(terminal))
  const tracer =
    takers.length === 0
      ? undefined
      : Tracer.make({
          sampleRatio: config.sampleRatio,
          isExcluded: ExcludedPaths.make(config.excludedPaths),
          onEnd: (span) => takers.forEach((take) => take(span))
        })

  return {
    services: Context.mergeAll(
      Context.make(Metric.FiberRuntimeMetrics, yield* FiberMetrics.make),
      // The pipeline makes the span of a request itself.
      Context.make(HttpMiddleware.TracerDisabledWhen, constTrue),
      tracer === undefined
        ? Context.make(References.TracerEnabled, false).pipe(Context.add(HttpClient.TracerDisabledWhen, constTrue))
        : Context.make(EffectTracer.Tracer, tracer.effectTracer)
    ),
    tracer,
    log: exported?.log,
    resource
  }
})

const pluginMetric = (plugin: string): Observed.Observed => ({
  name: "layerhost.plugins",
  description: "The plugins that the host runs, 1 for each.",
  unit: "{plugin}",
  attributes: { plugin },
  kind: "upDownCounter",
  read: () => 1
})

const exportTo = Effect.fnUntraced(function* (
  { config, version }: TelemetryOptions,
  resource: Resource.ResourceAttributes
): Effect.fn.Return<Export | undefined, Tls.TelemetryFileError, Scope> {
  const { endpoint } = config
  if (endpoint === undefined || !(config.traces || config.metrics || config.logs)) return undefined
  const tls = yield* Tls.read(config.tls)
  // Nothing of it is loaded where nothing is exported.
  const { make } = yield* Effect.promise(() => import("./Otlp/Export.ts"))
  return yield* make({ endpoint, config, tls, resource, version })
})
