/**
 * The services that the handler of an endpoint captured when its layer was built.
 *
 * The API runtime keeps them to itself, and merges them into the context of every request, which costs more with each service
 * that the host has. Whoever knows them can do that once.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/**
 * Finds what a route of the API runtime merges into the context of a request; absent where the runtime works in another way
 * than is known here.
 *
 * The first thing that such a route does is to set the context of the fiber that it runs in. A fiber without a context lets
 * the captured one be seen as it is, and ends right there: nothing of the endpoint runs.
 */
export const find = (handler: Effect.Effect<unknown, unknown, any>): Context.Context<never> | undefined => {
  let captured: Context.Context<never> | undefined
  const probe = Effect.withFiber((fiber) => {
    Object.defineProperty(fiber, "setContext", {
      configurable: true,
      value: (context: Context.Context<never>) => {
        captured = context
        throw found
      }
    })
    return handler
  })
  const exit = Effect.runSyncExitWith(Context.empty())(probe as Effect.Effect<unknown>)
  return Exit.isFailure(exit) ? captured : undefined
}

const found = new Error("The captured context was found")
