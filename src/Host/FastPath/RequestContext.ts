/**
 * The context that a handler runs in: the services that it captured, and what belongs to the request.
 *
 * To merge the two costs more with each service that the host has. But a request brings few services, and always the same.
 */
import type * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { PreResponseHandler } from "effect/http/HttpEffect"
import { MaxBodySize } from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import { ParentSpan } from "effect/Tracer"
import { CurrentRequest } from "../Http/CurrentRequest.ts"
import type { Exchange } from "../Http/Exchange.ts"
import type { FoundRoute } from "../Http/RouteRegistry.ts"

/** Gives the context of a request the services that its handler captured. */
export type RequestContext = (
  captured: Context.Context<never>
) => (context: Context.Context<never>) => Context.Context<never>

/** The state of a request, by which a handler changes the answer that is sent (`HttpEffect.appendPreResponseHandler`). */
interface RequestState {
  preResponseHandler: PreResponseHandler | undefined
  loggerDisabled: boolean
}

/** The key under which Effect's own root of a request keeps it. */
const CurrentRequestState = Context.Service<RequestState>("effect/http/HttpEffect/CurrentRequestState")

/** What a request brings, all else being in the captured context already. */
const keys: ReadonlyArray<Context.Key<any, unknown>> = [
  CurrentRequestState,
  Scope.Scope,
  CurrentRequest,
  ParentSpan,
  MaxBodySize,
  HttpServerRequest.HttpServerRequest,
  HttpServerRequest.ParsedSearchParams,
  HttpRouter.RouteContext,
  References.CurrentLogAnnotations
]

/** Services with room for all that a request brings. */
export const baseOf = ({ mapUnsafe }: Context.Context<never>): Context.Context<never> =>
  Context.makeUnsafe(mapUnsafe, { maxDepth: 2 * keys.length })

/**
 * Makes contexts for requests to a host. Middleware can put any service before a handler, so where there is some, contexts
 * are merged; where there is none, what a request brings is known, and is laid over the captured services.
 */
export const make = (hasMiddleware: () => boolean): RequestContext => {
  return (captured) => {
    const base = baseOf(captured)
    return (context) => {
      if (hasMiddleware()) return Context.merge(context, captured)
      let own = base
      for (const key of keys) {
        const service = Context.getOrUndefined(context, key)
        if (service !== undefined) own = Context.addUnsafe(own, key.key, service)
      }
      return own
    }
  }
}

/** What the fibers of a request share. */
export class OfFibers {
  readonly state: RequestState = { preResponseHandler: undefined, loggerDisabled: false }
  readonly scope = Scope.makeUnsafe()

  /** Closes the scope; absent where there is nothing to release, or a handler keeps it open. */
  close(exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> | undefined {
    return this.scope.state._tag === "Empty" || Reflect.has(this.scope, ejected)
      ? undefined
      : Scope.close(this.scope, exit)
  }
}

/** How a handler keeps the scope of its request open (`HttpEffect.scopeDisableClose`). */
const ejected = Symbol.for("effect/http/HttpEffect/scopeEjected")

/** What a request brings, laid over services that {@link baseOf} has made room in. */
export const over = (
  base: Context.Context<never>,
  exchange: Exchange,
  request: HttpServerRequest.HttpServerRequest,
  { handler: { route }, params, searchParams }: FoundRoute,
  { scope, state }: OfFibers,
  maxBodySize: ByteSize.ByteSize
): Context.Context<never> => {
  let context = Context.addUnsafe(base, CurrentRequestState.key, state)
  context = Context.addUnsafe(context, Scope.Scope.key, scope)
  context = Context.addUnsafe(context, CurrentRequest.key, exchange)
  if (exchange.span !== undefined) context = Context.addUnsafe(context, ParentSpan.key, exchange.span)
  context = Context.addUnsafe(context, MaxBodySize.key, maxBodySize)
  context = Context.addUnsafe(context, HttpServerRequest.HttpServerRequest.key, request)
  context = Context.addUnsafe(context, HttpServerRequest.ParsedSearchParams.key, searchParams)
  return Context.addUnsafe(context, HttpRouter.RouteContext.key, { params, route })
}
