/**
 * The APIs and the raw routes of all plugins.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpRouter from "effect/http/HttpRouter"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import type * as Middleware from "../../Plugins/Middleware.ts"
import * as CompiledApi from "../FastPath/CompiledApi.ts"
import * as RequestContext from "../FastPath/RequestContext.ts"
import type { Handler } from "../Http/Route.ts"
import type { RouteRegistry } from "../Http/RouteRegistry.ts"
import * as MiddlewareChain from "./MiddlewareChain.ts"
import type { BuiltPlugin, PluginBuilder } from "./PluginBuilder.ts"

/**
 * Mounts the APIs of all plugins, and then their raw routes, on a router that they share. Tells whether requests may go to a
 * route directly, no middleware being before any.
 */
export const mount = Effect.fnUntraced(function* (
  builder: PluginBuilder,
  plugins: ReadonlyArray<BuiltPlugin>,
  registry: RouteRegistry,
  middleware: MiddlewareChain.MiddlewareChain
) {
  let hasGlobalMiddleware = false
  const isFast = yield* CompiledApi.IsEnabled
  const requestContext = RequestContext.make(() => !isFast || hasGlobalMiddleware || !middleware.isEmpty)
  for (const { plugin, context } of plugins) {
    // Handlers keep the context in which they are built, and it wins over the request's: the annotations of a request's
    // log lines are to be its own.
    const own = Context.omit(References.CurrentLogAnnotations)(context)
    for (const { definition, handlers } of plugin.apis) {
      const groups = yield* builder.layer(plugin, "routes", handlers, own)
      if (groups === undefined) continue
      const compile = isFast ? CompiledApi.make(definition, groups, requestContext) : undefined
      const router = registry.apiRouter(plugin.id, definition, middleware.aroundOwn(plugin), compile)
      // The types of definition and handlers were held against each other by PluginApi.make.
      const api = HttpApiBuilder.layer(definition)
      const inner = Context.add(Context.merge(own, groups), HttpRouter.HttpRouter, router)
      yield* builder.layer(plugin, "routes", api, inner)
      yield* Effect.logDebug(`Mounted the API ${definition.identifier} of plugin ${plugin.id}`)
    }
  }
  for (const { plugin, context } of plugins) {
    const own = Context.omit(Scope.Scope, References.CurrentLogAnnotations)(context as Context.Context<any>)
    const raw = registry.rawRouter(plugin.id, requestContext(own), middleware.aroundOwn(plugin))
    const router = withServices(raw, context, () => (hasGlobalMiddleware = true))
    yield* builder.layer(plugin, "routes", plugin.routes, Context.add(context, HttpRouter.HttpRouter, router))
    yield* Effect.logDebug(`Mounted the routes of plugin ${plugin.id}`)
  }
  for (const { route, existing } of registry.clashes) {
    builder.problems.push({
      plugin: route.plugin,
      phase: "routes",
      message: `${route.method} ${route.path} is already a route of plugin "${existing.plugin}" (${existing.method} ${existing.path}); choose another path`
    })
  }
  return { isDirect: isFast && !hasGlobalMiddleware && middleware.isEmpty }
})

/** Gives the services of a plugin to the global middleware among its routes, too, which is around those of all plugins. */
const withServices = (
  router: HttpRouter.HttpRouter,
  services: Context.Context<never>,
  onMiddleware: () => void
): HttpRouter.HttpRouter =>
  HttpRouter.HttpRouter.of({
    ...router,
    addGlobalMiddleware: (middleware) => {
      onMiddleware()
      return router.addGlobalMiddleware((handler: Handler) =>
        MiddlewareChain.wrap(middleware as Middleware.Apply<any>, handler, services)
      )
    }
  } as HttpRouter.HttpRouter)
