/**
 * The application: the plugins' services with everything that stands on them, put together into one HTTP effect.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpPlatform } from "effect/http/HttpPlatform"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import type * as Plugin from "../../Plugins/Plugin.ts"
import * as ResponseCompression from "../Compression/ResponseCompression.ts"
import * as Cors from "../Cors/Cors.ts"
import * as DocsRoutes from "../Docs/DocsRoutes.ts"
import * as DirectRoot from "../FastPath/DirectRoot.ts"
import * as ForwardedHeaders from "../ForwardedHeaders/ForwardedHeaders.ts"
import * as BuiltInChecks from "../Health/BuiltInChecks.ts"
import * as HealthChecks from "../Health/HealthChecks.ts"
import * as HealthRoutes from "../Health/HealthRoutes.ts"
import type { RegisteredCheck } from "../Health/RegisteredCheck.ts"
import { type HostConfiguration, hostName, hostSections } from "../HostConfiguration.ts"
import { HostStartError, inOrder } from "../HostStartError.ts"
import { HttpMetrics } from "../Http/HttpMetrics.ts"
import * as Pipeline from "../Http/Pipeline.ts"
import * as RequestLog from "../Http/RequestLog.ts"
import { type RegisteredRoute, RouteRegistry } from "../Http/RouteRegistry.ts"
import { Logging } from "../Logging/Logging.ts"
import * as RateLimiter from "../RateLimiting/RateLimiter.ts"
import * as ExcludedPaths from "../Http/ExcludedPaths.ts"
import type * as Telemetry from "../Telemetry/Telemetry.ts"
import * as MetricsRoute from "../Telemetry/MetricsRoute.ts"
import * as MiddlewareChain from "./MiddlewareChain.ts"
import { type BuiltPlugin, PluginBuilder } from "./PluginBuilder.ts"
import { duplicateIds, sectionClashes } from "./PluginChecks.ts"
import * as PluginErrors from "./PluginErrors.ts"
import * as PluginHealthChecks from "./PluginHealthChecks.ts"
import * as PluginRoutes from "./PluginRoutes.ts"

/** What an application is made of. */
export interface ApplicationOptions {
  /** In sort order. */
  readonly plugins: ReadonlyArray<Plugin.Any>
  /** The services that every plugin sees. */
  readonly host: Context.Context<never>
  readonly configuration: HostConfiguration
  readonly telemetry: Telemetry.Telemetry
  readonly isShuttingDown: () => boolean
}

/** An application that is ready to be listened for. */
export interface Application {
  /** What every request meets. */
  readonly httpEffect: Pipeline.HttpEffect
  /** The shorter way of plain requests over HTTP. */
  readonly direct: DirectRoot.DirectRoot
  readonly plugins: ReadonlyArray<BuiltPlugin>
  readonly routes: ReadonlyArray<RegisteredRoute>
}

/**
 * Builds the application in the current scope. Every problem of every plugin is told in one error.
 */
export const build = Effect.fnUntraced(function* (options: ApplicationOptions) {
  const { configuration } = options
  const builder = new PluginBuilder(yield* Layer.makeMemoMap, yield* Effect.scope)
  checkList(builder, options.plugins)

  const plugins = yield* builder.services(options.plugins, options.host, configuration.sections)
  const errors = PluginErrors.gather(options.plugins)
  builder.problems.push(...errors.problems)
  const checks = yield* PluginHealthChecks.gather(builder, plugins, builtInChecks(configuration.health))

  const middleware = yield* MiddlewareChain.build(builder, plugins)
  const router = yield* HttpRouter.make
  const registry = new RouteRegistry(router)
  const hostRoutes = yield* makeHostRoutes(options, checks)
  yield* registry.rawRouter(hostName).addAll(hostRoutes)
  const { isDirect } = yield* PluginRoutes.mount(builder, plugins, registry, middleware)
  const handler = yield* middleware.aroundAll(router.asHttpEffect())

  if (builder.problems.length > 0) return yield* new HostStartError({ problems: inOrder(builder.problems) })

  const forwarded = ForwardedHeaders.make(configuration.forwardedHeaders)
  yield* Effect.logInfo(forwarded.description)
  const { isShuttingDown } = options
  const pipeline = Pipeline.make(handler, {
    maxRequestSize: configuration.host.maxRequestSize,
    limits: configuration.host,
    isShuttingDown,
    mappedProblemOf: errors.problemOf,
    methodsOf: registry.methodTable(),
    templateOf: registry.templateTable(),
    metrics: new HttpMetrics(options.host),
    tracer: options.telemetry.tracer,
    forwarded,
    rateLimiter: yield* RateLimiter.make(
      configuration.rateLimiting,
      configuration.rateLimitPolicies,
      configuration.rateLimitRedis
    ),
    cors: Cors.make(configuration.cors),
    compress: ResponseCompression.make(
      configuration.compression,
      Context.get(options.host as Context.Context<HttpPlatform>, HttpPlatform)
    ),
    log: RequestLog.make(Context.get(options.host as Context.Context<Logging>, Logging), {
      isExcluded: ExcludedPaths.make(configuration.logging.excludedPaths),
      withQueries: configuration.logging.queries
    })
  })
  yield* Effect.logDebug(`Built the application: ${plugins.length} plugins, ${registry.routes.length} routes`)
  const direct = DirectRoot.make({
    pipeline,
    forwarded,
    limits: configuration.host,
    find: isDirect ? registry.table() : () => undefined,
    isSentAsItIs: ResponseCompression.isSentAsItIs(configuration.compression),
    isShuttingDown
  })
  return { httpEffect: pipeline.httpEffect, direct, plugins, routes: registry.routes } satisfies Application
})

const checkList = (builder: PluginBuilder, plugins: ReadonlyArray<Plugin.Any>): void => {
  builder.problems.push(...duplicateIds(plugins))
  for (const { plugin, message } of sectionClashes(plugins, hostSections)) {
    builder.problems.push({ plugin: plugin.id, phase: "plugins", message })
    builder.incomplete.add(plugin)
  }
}

const builtInChecks = (config: HostConfiguration["health"]): ReadonlyArray<RegisteredCheck> =>
  [
    BuiltInChecks.api,
    BuiltInChecks.diskSpace({ minimumFreeBytes: config.minimumFreeDiskSpace }),
    BuiltInChecks.memory({ maximumAllocatedBytes: config.maxAllocatedMemory })
  ].map((check) => ({ plugin: hostName, check }))

const makeHostRoutes = Effect.fnUntraced(function* (
  options: ApplicationOptions,
  checks: ReadonlyArray<RegisteredCheck>
) {
  const health = HealthRoutes.make(yield* HealthChecks.make(checks), Effect.sync(options.isShuttingDown))
  const apis = options.plugins.flatMap((plugin) =>
    plugin.apis.map(({ definition }) => ({ plugin: plugin.id, definition }))
  )
  const { "service.name": title, "service.version": version } = options.telemetry.resource
  const docs = options.configuration.docs.enabled
    ? yield* DocsRoutes.make({ title: String(title ?? "layerhost"), version: String(version ?? "1.0.0"), apis })
    : []
  return [...health, MetricsRoute.make(options.telemetry.resource), ...docs]
})
