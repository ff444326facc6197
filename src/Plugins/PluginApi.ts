/**
 * An HTTP API of a plugin: its definition and the layer of its handlers.
 */
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as Layer from "effect/Layer"

/** A definition with its handlers; made by {@link make}. */
export interface PluginApi<out E = never, out R = never> {
  readonly definition: HttpApi.Top
  /** Provides every group of the definition. */
  readonly handlers: Layer.Layer<never, E, R>
}

/** Any API, whatever it requires. */
export type Any = PluginApi<any, any>

/**
 * Joins a definition and the layer of its handlers for a plugin's `apis`.
 *
 * The layer provides every group of the definition, as `HttpApiBuilder.group` makes them, and the middleware that they
 * name. The definition stands in a module of its own, so that a typed client needs no server code.
 */
export const make = <Id extends string, Groups extends HttpApiGroup.Constraint, E, R>(
  definition: HttpApi.HttpApi<Id, Groups>,
  handlers: Layer.Layer<HttpApiGroup.ToService<Id, Groups>, E, R>
): PluginApi<NoInfer<E>, NoInfer<R>> => ({ definition: definition as unknown as HttpApi.Top, handlers })
