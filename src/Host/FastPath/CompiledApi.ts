/**
 * The endpoints of one API, compiled.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import type * as HttpRouter from "effect/http/HttpRouter"
import type { Compile } from "../Http/Route.ts"
import * as CapturedContext from "./CapturedContext.ts"
import * as CompiledEndpoint from "./CompiledEndpoint.ts"
import type { RequestContext } from "./RequestContext.ts"

/** What the layer of a group provides: a route for each handler, in the same order. */
interface GroupHandlers {
  readonly routes: ReadonlyArray<HttpRouter.Route<any, any>>
  readonly handlers: ReadonlyMap<
    string,
    {
      readonly endpoint: HttpApiEndpoint.Top
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
  for (const group of Object.values(definition.groups) as ReadonlyArray<HttpApiGroup.Top>) {
    const { handlers, routes } = provided.mapUnsafe.get(group.key) as GroupHandlers
    Array.from(handlers.values(), ({ endpoint, handler, isRaw }, index) => {
      const route = routes[index]!
      const captured = isRaw ? undefined : CapturedContext.find(route.handler as Effect.Effect<unknown>)
      if (captured === undefined) return
      const annotations = Context.mergeAll(definition.annotations, group.annotations, endpoint.annotations)
      const within = requestContext(captured)
      found.set(route.handler, (stock) =>
        CompiledEndpoint.compile({ definition, group, endpoint, annotations, handler, stock, captured, within })
      )
    })
  }
  return (route, stock) => found.get(route.handler)?.(stock)
}
