/**
 * The context that a handler runs in: the services that it captured, and what belongs to the request.
 *
 * To merge the two costs more with each service that the host has. But a request brings few services, and always the same.
 */
import * as Context from "effect/Context"
import { MaxBodySize } from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import { ParentSpan } from "effect/Tracer"
import { CurrentRequest } from "../Http/CurrentRequest.ts"

/** Gives the context of a request the services that its handler captured. */
export type RequestContext = (
  captured: Context.Context<never>
) => (context: Context.Context<never>) => Context.Context<never>

/**
 * What a request brings, all else being in the captured context already. The first is the state of Effect's own root of a
 * request, by which a handler changes the answer that is sent (`HttpEffect.appendPreResponseHandler`).
 */
const keys: ReadonlyArray<Context.Key<any, unknown>> = [
  Context.Service<unknown>("effect/http/HttpEffect/CurrentRequestState"),
  Scope.Scope,
  CurrentRequest,
  ParentSpan,
  MaxBodySize,
  HttpServerRequest.HttpServerRequest,
  HttpServerRequest.ParsedSearchParams,
  HttpRouter.RouteContext,
  References.CurrentLogAnnotations
]

/**
 * Makes contexts for requests to a host. Middleware can put any service before a handler, so where there is some, contexts
 * are merged; where there is none, what a request brings is known, and is laid over the captured services.
 */
export const make = (hasMiddleware: () => boolean): RequestContext => {
  return (captured) => {
    const base = Context.makeUnsafe<never>(captured.mapUnsafe, { maxDepth: 2 * keys.length })
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
