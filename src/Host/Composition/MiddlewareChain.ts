/**
 * The middleware of all plugins as one chain around the routes.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as References from "effect/References"
import type * as Middleware from "../../Plugins/Middleware.ts"
import type { Handler } from "../Http/Route.ts"
import type { BuiltPlugin, PluginBuilder } from "./PluginBuilder.ts"

/**
 * Builds the middleware of all plugins and gives the one function that puts it around a handler: the lowest order
 * outermost, equal orders in plugin order.
 */
export const build = Effect.fnUntraced(function* (builder: PluginBuilder, plugins: ReadonlyArray<BuiltPlugin>) {
  const steps: Array<{ readonly order: number; readonly around: (handler: Handler) => Effect.Effect<Handler> }> = []
  for (const { plugin, context } of plugins) {
    for (const { build, name, order } of plugin.middleware) {
      const apply: Middleware.Apply<any> | undefined = yield* builder.run(plugin, "middleware", build, context)
      if (apply === undefined) continue
      const around = (handler: Handler) =>
        Effect.map(
          builder.run(
            plugin,
            "middleware",
            Effect.sync(() => wrap(apply, handler, context)),
            context
          ),
          (wrapped) => wrapped ?? handler
        )
      steps.push({ order, around })
      yield* Effect.logDebug(`Added middleware ${name} of plugin ${plugin.id} at order ${order}`)
    }
  }
  const innermostFirst = steps.toSorted((a, b) => a.order - b.order).toReversed()
  return (handler: Handler) =>
    Effect.reduce(
      innermostFirst,
      () => handler,
      (inner, { around }) => around(inner)
    )
})

/** What was there when a middleware was entered, and what it runs in. */
class Entry extends Context.Service<
  Entry,
  { readonly outside: Context.Context<never>; readonly inside: Context.Context<never> }
>()("layerhost/Host/Composition/MiddlewareChain/Entry") {}

/**
 * One middleware around a handler. It sees its plugin's services, but the handler does not: further in is what the request
 * brought, and what the middleware itself added to that.
 *
 * It can be interrupted, as a route can. What the host does around it cannot, since that answers interruptions too.
 */
export const wrap = (apply: Middleware.Apply<any>, handler: Handler, services: Context.Context<never>): Handler => {
  // What the handler needs is in the request that it runs in.
  const inner = Effect.uninterruptible(
    Effect.updateContext(handler as Effect.Effect<HttpServerResponse, unknown>, leave)
  )
  const applied = Effect.interruptible(apply(inner)) as Effect.Effect<HttpServerResponse, unknown>
  return Effect.updateContext(applied, (outside: Context.Context<never>) => enter(services, outside))
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
