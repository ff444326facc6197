/**
 * Middleware: a plugin's own step in the way of every request, in one order over all plugins; or of requests to the plugin's
 * own routes alone.
 */
import type * as Effect from "effect/Effect"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"

/**
 * Wraps the handling of a request. What it does not handle itself, it passes on by running `httpEffect`, which fails where
 * something further in failed: the host turns failures into answers only further out.
 */
export type Apply<out R = never> = (
  httpEffect: Effect.Effect<HttpServerResponse, unknown>
) => Effect.Effect<HttpServerResponse, unknown, R>

/** Which routes a middleware stands before: those of `all` plugins and of the host, or its plugin's `own`, APIs and raw alike. */
export type Routes = "all" | "own"

/** A named step with its place in the order. */
export interface Middleware<out E = never, out R = never> {
  readonly name: string
  /** Lower runs first, that is further out; equal orders keep the order of the plugins. 0 when absent. */
  readonly order: number
  /** What stands before `own` routes is always further in than what stands before `all`. `all` when absent. */
  readonly routes: Routes
  /** Run once at start. What it requires, and what the steps that it makes require, the plugin's services give. */
  readonly build: Effect.Effect<Apply<any>, E, R>
}

/** Any middleware, whatever it requires. */
export type Any = Middleware<any, any>

/**
 * Makes a middleware that a plugin lists under `middleware`. It sees every request that comes past the host's own steps
 * (request id, limits, CORS), its own plugin's and others' alike; with `routes: "own"`, those that a route of its plugin was
 * found for. What it provides to `httpEffect`, all that is further in sees; the services of its own plugin stay its own.
 *
 * @example
 * ```ts
 * Middleware.make({
 *   name: "only by day",
 *   routes: "own",
 *   build: Effect.map(OpeningHours, (hours) => (httpEffect) =>
 *     Effect.flatMap(hours.areNow, (open) => (open ? httpEffect : Effect.succeed(HttpServerResponse.empty({ status: 503 }))))
 *   )
 * })
 * ```
 */
export const make = <E = never, R = never, RequestR = never>(options: {
  readonly name: string
  readonly order?: number
  readonly routes?: Routes
  readonly build: Effect.Effect<Apply<RequestR>, E, R>
}): Middleware<NoInfer<E>, NoInfer<R | RequestR>> => ({
  name: options.name,
  order: options.order ?? 0,
  routes: options.routes ?? "all",
  build: options.build
})
