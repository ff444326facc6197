/**
 * The parts of plugins that stand on their services: middleware, routes, health checks and tasks.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpRouter from "effect/http/HttpRouter"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type * as HealthCheck from "../../Plugins/HealthCheck.ts"
import type * as Middleware from "../../Plugins/Middleware.ts"
import type { RegisteredCheck } from "../Health/RegisteredCheck.ts"
import { type Handler, withServices } from "../Http/Route.ts"
import type { RouteRegistry } from "../Http/RouteRegistry.ts"
import type { BuiltPlugin, PluginBuilder } from "./PluginBuilder.ts"

/**
 * Builds the middleware of all plugins and gives the one function that puts it around a handler: the lowest order
 * outermost, equal orders in plugin order.
 */
export const buildMiddleware = Effect.fnUntraced(function* (
  builder: PluginBuilder,
  plugins: ReadonlyArray<BuiltPlugin>
) {
  const steps: Array<{ readonly order: number; readonly apply: (handler: Handler) => Handler }> = []
  for (const { plugin, context } of plugins) {
    for (const middleware of plugin.middleware) {
      const apply: Middleware.Apply<any> | undefined = yield* builder.run(
        plugin,
        "middleware",
        middleware.build,
        context
      )
      if (apply === undefined) continue
      // A handler's needs are met by the request it runs in, with or without middleware around it.
      const wrap = (handler: Handler) =>
        withServices(apply(handler as Effect.Effect<HttpServerResponse, unknown>), context)
      steps.push({ order: middleware.order, apply: wrap })
      yield* Effect.logDebug(`Added middleware ${middleware.name} of plugin ${plugin.id} at order ${middleware.order}`)
    }
  }
  const innermostFirst = steps.toSorted((a, b) => a.order - b.order).toReversed()
  return (handler: Handler): Handler => innermostFirst.reduce((inner, { apply }) => apply(inner), handler)
})

/** Mounts the APIs and the raw routes of all plugins. */
export const mountRoutes = Effect.fnUntraced(function* (
  builder: PluginBuilder,
  plugins: ReadonlyArray<BuiltPlugin>,
  registry: RouteRegistry
) {
  for (const { plugin, context } of plugins) {
    for (const { definition, handlers } of plugin.apis) {
      const router = registry.apiRouter(plugin.id, definition)
      // The types of definition and handlers were held against each other by PluginApi.make.
      const api = Layer.provide(HttpApiBuilder.layer(definition), handlers as Layer.Layer<any, unknown, any>)
      yield* builder.layer(plugin, "routes", api, Context.add(context, HttpRouter.HttpRouter, router))
    }
    const router = registry.rawRouter(plugin.id, Context.omit(Scope.Scope)(context as Context.Context<any>))
    yield* builder.layer(plugin, "routes", plugin.routes, Context.add(context, HttpRouter.HttpRouter, router))
    yield* Effect.logDebug(`Mounted the routes of plugin ${plugin.id}`)
  }
  for (const { route, existing } of registry.clashes) {
    builder.problems.push({
      plugin: route.plugin,
      phase: "routes",
      message: `${route.method} ${route.path} is already a route of plugin "${existing.plugin}" (${existing.method} ${existing.path})`
    })
  }
})

/** Gathers the health checks of all plugins, in plugin order. */
export const gatherHealthChecks = Effect.fnUntraced(function* (
  builder: PluginBuilder,
  plugins: ReadonlyArray<BuiltPlugin>
) {
  const gathered: Array<RegisteredCheck> = []
  for (const { plugin, context } of plugins) {
    const checks = Effect.isEffect(plugin.healthChecks)
      ? yield* builder.run(plugin, "healthChecks", plugin.healthChecks, context)
      : plugin.healthChecks
    for (const check of checks ?? []) {
      const provided = Effect.provideContext(check.check, context) as HealthCheck.HealthCheck["check"]
      gathered.push({ plugin: plugin.id, check: { ...check, check: provided } })
    }
  }
  return gathered
})

/** Starts the tasks of all plugins in the given scope; one that fails is logged, and the host lives on. */
export const startTasks = Effect.fnUntraced(function* (plugins: ReadonlyArray<BuiltPlugin>, scope: Scope.Scope) {
  for (const { plugin, context } of plugins) {
    for (const task of plugin.tasks) {
      yield* task.run.pipe(
        Effect.provideContext(Context.add(context, Scope.Scope, scope)),
        Effect.catchCause((cause) => Effect.logError(`Task ${task.name} failed`, cause)),
        Effect.annotateLogs({ namespace: plugin.id }),
        Effect.forkIn(scope)
      )
      yield* Effect.logDebug(`Started task ${task.name} of plugin ${plugin.id}`)
    }
  }
})
