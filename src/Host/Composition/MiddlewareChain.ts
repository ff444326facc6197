/**
 * The middleware of all plugins: one chain around all routes, and one around those of each plugin.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as References from "effect/References"
import type * as Middleware from "../../Plugins/Middleware.ts"
import type * as Plugin from "../../Plugins/Plugin.ts"
import type { Handler } from "../Http/Route.ts"
import type { BuiltPlugin, PluginBuilder } from "./PluginBuilder.ts"

/** The middleware of all plugins, ready to be put around handlers: the lowest order outermost, equal orders in plugin order. */
export interface MiddlewareChain {
  readonly isEmpty: boolean
  /** Puts what stands before all routes around the one handler of them all. */
  readonly aroundAll: (handler: Handler) => Effect.Effect<Handler>
  /** Puts what stands before the own routes of a plugin around one of them. */
  readonly aroundOwn: (plugin: Plugin.Any) => (handler: Handler) => Handler
}

/** A middleware that was built, whose plugin it is, and what it may use. */
interface Step extends BuiltPlugin {
  readonly order: number
  readonly routes: Middleware.Routes
  readonly apply: Middleware.Apply<any>
}

/** Builds the middleware of all plugins. */
export const build = Effect.fnUntraced(function* (
  builder: PluginBuilder,
  plugins: ReadonlyArray<BuiltPlugin>
): Effect.fn.Return<MiddlewareChain> {
  const steps: Array<Step> = []
  for (const { plugin, context } of plugins) {
    for (const { build, name, order, routes } of plugin.middleware) {
      const apply: Middleware.Apply<any> | undefined = yield* builder.run(plugin, "middleware", build, context)
      if (apply === undefined) continue
      steps.push({ plugin, context, order, routes, apply })
      yield* Effect.logDebug(
        `Added middleware ${name} of plugin ${plugin.id} at order ${order}, before ${routes} routes`
      )
    }
  }
  const innermostFirst = steps.toSorted((a, b) => a.order - b.order).toReversed()
  const all = innermostFirst.filter(({ routes }) => routes === "all")
  return {
    isEmpty: steps.length === 0,
    aroundAll: (handler) =>
      Effect.reduce(
        all,
        () => handler,
        (inner, { apply, context, plugin }) => {
          const wrapped = Effect.sync(() => wrap(apply, inner, context))
          return Effect.map(builder.run(plugin, "middleware", wrapped, context), (outer) => outer ?? inner)
        }
      ),
    aroundOwn: (plugin) => {
      const own = innermostFirst.filter((step) => step.routes === "own" && step.plugin === plugin)
      return (handler) => own.reduce((inner, { apply, context }) => around(apply, inner, context), handler)
    }
  }
})

/** What was there when a middleware was entered, and what it runs in. */
class Entry extends Context.Service<
  Entry,
  { readonly outside: Context.Context<never>; readonly inside: Context.Context<never> }
>()("layerhost/Host/Composition/MiddlewareChain/Entry") {}

/**
 * One middleware around the handler of all routes. It can be interrupted, as a route can. What the host does around it
 * cannot, since that answers interruptions too.
 */
export const wrap = (apply: Middleware.Apply<any>, handler: Handler, services: Context.Context<never>): Handler =>
  around((inner) => Effect.interruptible(apply(Effect.uninterruptible(inner))), handler, services)

/**
 * One middleware around a handler. It sees its plugin's services, but the handler does not: further in is what the request
 * brought, and what the middleware itself added to that.
 */
const around = (apply: Middleware.Apply<any>, handler: Handler, services: Context.Context<never>): Handler => {
  // What the handler needs is in the request that it runs in.
  const inner = Effect.updateContext(handler as Effect.Effect<HttpServerResponse, unknown>, leave)
  return Effect.updateContext(
    apply(inner) as Effect.Effect<HttpServerResponse, unknown>,
    (outside: Context.Context<never>) => enter(services, outside)
  )
}

const enter = (services: Context.Context<never>, outside: Context.Context<never>): Context.Context<never> => {
  const annotations = {
    ...Context.get(outside, References.CurrentLogAnnotations),
    ...Context.get(services, References.CurrentLogAnnotations)
  }
  const entry = { outside, inside: outside }
  entry.inside = Context.merge(services, outside).pipe(
    Context.add(References.CurrentLogAnnotations, annotations),
    Context.add(Entry, entry)
  )
  return entry.inside
}

const leave = (context: Context.Context<never>): Context.Context<never> => {
  const { outside, inside } = Context.get(context as Context.Context<any>, Entry)
  if (context === inside) return outside
  let further = outside
  for (const [key, value] of context.mapUnsafe) {
    if (inside.mapUnsafe.get(key) !== value) further = Context.addUnsafe(further, key, value)
  }
  return further
}
