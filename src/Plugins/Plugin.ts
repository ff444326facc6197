/**
 * A plugin: one value that says what a part of a service is made of.
 *
 * The host reads the plugin's configuration sections, builds its services, mounts its APIs and routes, and runs its
 * middleware, health checks and tasks. A plugin sees the services of every plugin that runs before it.
 */
import type * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import type * as Types from "effect/Types"
import type * as ErrorMapping from "./ErrorMapping.ts"
import type * as HealthCheck from "./HealthCheck.ts"
import type { HostServices } from "./HostServices.ts"
import type * as Middleware from "./Middleware.ts"
import type * as PluginApi from "./PluginApi.ts"
import { originOf, type OriginOf, type PluginOrigin } from "./PluginOrigin.ts"
import type * as Section from "./Section.ts"
import type * as Task from "./Task.ts"

const TypeId = "~layerhost/Plugins/Plugin"

/**
 * A plugin with what the types know of it: what it provides to later plugins, and what it needs of earlier ones.
 */
export interface Plugin<
  out Id extends string,
  out Origin extends PluginOrigin,
  out Provides,
  out Requires
> extends Definition {
  readonly [TypeId]: {
    readonly Provides: Types.Covariant<Provides>
    readonly Requires: Types.Covariant<Requires>
  }
  readonly id: Id
  readonly origin: Origin
}

/** Any plugin, with everything that the host reads at run time. */
export interface Any extends Definition {
  readonly [TypeId]: {
    readonly Provides: Types.Covariant<any>
    readonly Requires: Types.Covariant<any>
  }
}

/** The parts of a plugin, their types erased: the host checks them when it builds. */
interface Definition {
  readonly id: string
  readonly origin: PluginOrigin
  /** The package that brought the plugin; absent for the service's own. */
  readonly package: PackageInfo | undefined
  readonly config: ReadonlyArray<Section.Any>
  readonly services: Layer.Layer<never, unknown, any>
  readonly apis: ReadonlyArray<PluginApi.Any>
  readonly routes: Layer.Layer<never, unknown, any>
  readonly middleware: ReadonlyArray<Middleware.Any>
  readonly errors: ReadonlyArray<ErrorMapping.ErrorMapping>
  readonly healthChecks: HealthChecks<any, unknown, any>
  readonly tasks: ReadonlyArray<Task.Any>
}

/** The installed package that a plugin comes from. */
export interface PackageInfo {
  readonly name: string
  readonly version: string
}

/** Health checks, or an effect that chooses them once the plugin's services are there. */
export type HealthChecks<CheckR, E, R> =
  | ReadonlyArray<HealthCheck.HealthCheck<CheckR>>
  | Effect.Effect<ReadonlyArray<HealthCheck.HealthCheck<CheckR>>, E, R>

/** What a plugin gives to later plugins. */
export type Provides<P> = P extends { readonly [TypeId]: { readonly Provides: Types.Covariant<infer A> } } ? A : never

/** What a plugin needs of earlier plugins. */
export type Requires<P> = P extends { readonly [TypeId]: { readonly Requires: Types.Covariant<infer A> } } ? A : never

/** What every route is given with the request itself. */
type OfRequest = HttpRouter.HttpRouter | HttpRouter.Provided

/** Requirements of routes and handlers without the marks that say when they are needed. */
type Unmarked<R> = HttpRouter.Request.Without<R> | HttpRouter.Request.Only<"Requires" | "GlobalRequires", R>

type ApiRequires<A> = A extends PluginApi.PluginApi<any, infer R> ? R : never
type MiddlewareRequires<M> = M extends Middleware.Middleware<any, infer R> ? R : never
type TaskRequires<T> = T extends Task.Task<infer R> ? R : never

/**
 * A type on which the place where a plugin is made, such as a list of plugins, has no say. `NoInfer` would do the same, but
 * stays around the type, and lists of plugins are then checked ten times as slowly.
 */
type Settled<A> = [A] extends [infer B] ? B : never

/**
 * Makes a plugin.
 *
 * @example
 * ```ts
 * export const orders = Plugin.make({
 *   id: "orders",
 *   config: [OrdersConfig],
 *   services: Orders.layer,
 *   apis: [PluginApi.make(OrdersApi, OrdersHandlers)],
 *   healthChecks: [HealthCheck.make({ name: "orders", tags: ["readiness"], check: Orders.check })]
 * })
 * ```
 */
export const make = <
  const Id extends string,
  const Config extends ReadonlyArray<Section.Any> = readonly [],
  ServicesOut = never,
  ServicesIn = never,
  const Apis extends ReadonlyArray<PluginApi.Any> = readonly [],
  RoutesIn = never,
  const Middlewares extends ReadonlyArray<Middleware.Any> = readonly [],
  CheckR = never,
  ChecksR = never,
  const Tasks extends ReadonlyArray<Task.Any> = readonly []
>(options: {
  /** Unique in a host; `layerhost/…` is the framework's own. */
  readonly id: Id
  /** The configuration sections that the plugin owns. Only this plugin sees them. */
  readonly config?: Config
  /** What the plugin gives to itself and to later plugins. */
  readonly services?: Layer.Layer<ServicesOut, unknown, ServicesIn>
  /** HTTP APIs with their handlers. */
  readonly apis?: Apis
  /** Raw routes, as `HttpRouter.add` and its like make them. */
  readonly routes?: Layer.Layer<never, unknown, RoutesIn>
  /** Steps in the way of every request, or of those to this plugin's routes, ordered over all plugins. */
  readonly middleware?: Middlewares
  /** What the service answers to errors of the plugin, wherever a request meets them. */
  readonly errors?: ReadonlyArray<ErrorMapping.ErrorMapping>
  /** Health checks; an effect where the choice depends on the plugin's services. */
  readonly healthChecks?: HealthChecks<CheckR, unknown, ChecksR>
  /** Work that goes on beside the requests. */
  readonly tasks?: Tasks
}): Plugin<
  Id,
  OriginOf<Id>,
  Settled<ServicesOut>,
  Settled<
    Exclude<
      | ServicesIn
      | Unmarked<ApiRequires<Apis[number]>>
      | Unmarked<RoutesIn>
      | MiddlewareRequires<Middlewares[number]>
      | CheckR
      | ChecksR
      | TaskRequires<Tasks[number]>,
      ServicesOut | Section.Identifier<Config[number]> | HostServices | OfRequest
    >
  >
> => ({
  [TypeId]: typeIdValue,
  id: options.id,
  origin: originOf(options.id),
  package: undefined,
  config: options.config ?? [],
  services: options.services ?? Layer.empty,
  apis: options.apis ?? [],
  routes: options.routes ?? Layer.empty,
  middleware: options.middleware ?? [],
  errors: options.errors ?? [],
  healthChecks: options.healthChecks ?? [],
  tasks: options.tasks ?? []
})

const typeIdValue = {
  Provides: (_: never) => _,
  Requires: (_: never) => _
}

/**
 * Marks a plugin as coming from an installed package. The generated plugin list does this; a plugin of the framework
 * keeps its origin.
 */
export const fromPackage = <Id extends string, Origin extends PluginOrigin, Provides, Requires>(
  info: PackageInfo,
  plugin: Plugin<Id, Origin, Provides, Requires>
): Plugin<Id, FromPackage<Origin>, Settled<Provides>, Settled<Requires>> =>
  ({
    ...plugin,
    package: info,
    origin: plugin.origin === "framework" ? "framework" : "third-party"
  }) as Plugin<Id, FromPackage<Origin>, any, any>

type FromPackage<Origin extends PluginOrigin> = Origin extends "framework" ? "framework" : "third-party"
