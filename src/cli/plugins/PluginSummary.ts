/** What can be told of a plugin while nothing of it runs. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import { RouteRegistry } from "../../Host/Http/RouteRegistry.ts"
import type * as Middleware from "../../Plugins/Middleware.ts"
import type * as Plugin from "../../Plugins/Plugin.ts"
import type { PluginOrigin } from "../../Plugins/PluginOrigin.ts"
import type { ServiceNames } from "./ServiceNames.ts"

/** A plugin as `layerhost plugins` tells it; the names of the fields are those of `--json`. */
export interface PluginSummary {
  readonly id: string
  /** Its place in the order in which plugins run, counted from 1. */
  readonly order: number
  readonly origin: PluginOrigin
  /** The package that brings it; null for the service's own. */
  readonly package: string | null
  /** Of the package, or of the service; null where its package.json has none. */
  readonly version: string | null
  /** The keys of services; null where only the compiler knows them and TypeScript is not installed. */
  readonly provides: ReadonlyArray<string> | null
  readonly requires: ReadonlyArray<string> | null
  /** Method and path, for example `GET /orders/:id`. */
  readonly endpoints: ReadonlyArray<string>
  /** Whether there are raw routes that only its services can tell. */
  readonly moreRoutes: boolean
  /** Names; null where its services choose them at start. */
  readonly healthChecks: ReadonlyArray<string> | null
  /** Paths in the configuration. */
  readonly sections: ReadonlyArray<string>
  readonly middleware: ReadonlyArray<{
    readonly name: string
    readonly order: number
    readonly routes: Middleware.Routes
  }>
  /** The classes of errors that it answers, in the whole service. */
  readonly errors: ReadonlyArray<string>
  readonly tasks: ReadonlyArray<string>
}

/** Tells of plugins, which are given in the order in which they run. */
export const make = (
  plugins: ReadonlyArray<Plugin.Any>,
  options: { readonly serviceVersion: string | undefined; readonly names: ServiceNames | undefined }
): Effect.Effect<ReadonlyArray<PluginSummary>> =>
  Effect.forEach(plugins, (plugin, index) =>
    Effect.map(rawRoutes(plugin), ({ isComplete, routes }) => {
      const names = options.names?.get(plugin.id)
      return {
        id: plugin.id,
        order: index + 1,
        origin: plugin.origin,
        package: plugin.package?.name ?? null,
        version: plugin.package?.version ?? options.serviceVersion ?? null,
        provides: names?.provides ?? null,
        requires: names?.requires ?? null,
        endpoints: [...plugin.apis.flatMap(endpointsOf), ...routes],
        moreRoutes: !isComplete,
        healthChecks: Effect.isEffect(plugin.healthChecks) ? null : plugin.healthChecks.map(({ name }) => name),
        sections: plugin.config.map(({ path }) => path),
        middleware: plugin.middleware.map(({ name, order, routes }) => ({ name, order, routes })),
        errors: plugin.errors.map(({ error }) => error.name),
        tasks: plugin.tasks.map(({ name }) => name)
      }
    })
  )

const endpointsOf = ({ definition }: Plugin.Any["apis"][number]): ReadonlyArray<string> =>
  Object.values(definition.groups).flatMap((group) =>
    Object.values(group.endpoints).map(({ method, path }) => `${method} ${path}`)
  )

/**
 * The raw routes of a plugin: they are added to a router that nobody asks. Where that takes services of the plugin, which
 * are not there, the rest stays unknown.
 */
const rawRoutes = Effect.fnUntraced(function* (plugin: Plugin.Any) {
  const registry = new RouteRegistry(yield* HttpRouter.make)
  const router = registry.rawRouter(plugin.id)
  const routes = Layer.build(plugin.routes as Layer.Layer<never, unknown, HttpRouter.HttpRouter>)
  const exit = yield* Effect.exit(
    Effect.scoped(Effect.timeout(routes, "1 second")).pipe(
      Effect.provideContext(Context.make(HttpRouter.HttpRouter, router))
    )
  )
  return {
    isComplete: Exit.isSuccess(exit),
    routes: registry.routes.map(({ method, path }) => `${method} ${path}`)
  }
})
