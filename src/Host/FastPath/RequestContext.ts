/**
 * The context that a compiled endpoint runs in: the services that its handler captured, and what belongs to the request.
 */
import * as Context from "effect/Context"
import { MaxBodySize } from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import { ParentSpan } from "effect/Tracer"
import { CurrentRequest } from "../Http/CurrentRequest.ts"

/** Makes contexts for requests. */
export interface RequestContext {
  /** The captured services with those of the request in `context`. */
  readonly within: (captured: Context.Context<never>, context: Context.Context<never>) => Context.Context<never>
}

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
  const bases = new WeakMap<Context.Context<never>, Context.Context<never>>()
  const baseOf = (captured: Context.Context<never>): Context.Context<never> => {
    let base = bases.get(captured)
    if (base === undefined) {
      base = Context.makeUnsafe<never>(captured.mapUnsafe, { maxDepth: 2 * keys.length })
      bases.set(captured, base)
    }
    return base
  }
  return {
    within: (captured, context) => {
      if (hasMiddleware()) return Context.merge(context, captured)
      let own = baseOf(captured)
      for (const key of keys) {
        const service = Context.getOrUndefined(context, key)
        if (service !== undefined) own = Context.addUnsafe(own, key.key, service)
      }
      return own
    }
  }
}
