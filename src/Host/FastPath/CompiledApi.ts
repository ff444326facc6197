/**
 * The endpoints of one API, compiled.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpRouter from "effect/http/HttpRouter"
import type { Compile } from "../Http/Route.ts"
import * as CapturedContext from "./CapturedContext.ts"
import * as CompiledEndpoint from "./CompiledEndpoint.ts"
import type { RequestContext } from "./RequestContext.ts"

/** Whether there is a fast path. A test switches it off, to hold what Effect's own runtime answers against it. */
export const IsEnabled = Context.Reference<boolean>("layerhost/Host/FastPath/IsEnabled", { defaultValue: () => true })

/** What the layer of a group provides: a route for each handler, in the same order. */
interface GroupHandlers {
  readonly routes: ReadonlyArray<HttpRouter.Route<any, any>>
  readonly handlers: ReadonlyMap<
    string,
    {
      readonly handler: CompiledEndpoint.EndpointParts["handler"]
      readonly isRaw: boolean
    }
  >
}

/** Makes the compiler of an API's routes, given what the layers of its groups provided. */
export const make = (
  definition: HttpApi.Top,
  provided: Context.Context<never>,
  requestContext: RequestContext
): Compile => {
  const found = new Map<unknown, (stock: Parameters<Compile>[1]) => ReturnType<Compile>>()
  HttpApi.reflect(definition, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group, mergedAnnotations: annotations, successes }) => {
      const handlers = provided.mapUnsafe.get(group.key) as GroupHandlers | undefined
      const index = Array.from(handlers?.handlers.keys() ?? []).indexOf(endpoint.identifier)
      if (handlers === undefined || index < 0) return
      const { handler, isRaw } = handlers.handlers.get(endpoint.identifier)!
      const route = handlers.routes[index]!
      const captured = isRaw ? undefined : CapturedContext.find(route.handler as Effect.Effect<unknown>)
      if (captured === undefined) return
      const within = requestContext(captured)
      found.set(route.handler, (stock) =>
        CompiledEndpoint.compile({
          definition,
          group,
          endpoint,
          annotations,
          successes,
          handler,
          stock,
          captured,
          within
        })
      )
    }
  })
  return (route, stock) => found.get(route.handler)?.(stock)
}
