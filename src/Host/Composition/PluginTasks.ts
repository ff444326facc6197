/**
 * The background tasks of all plugins.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { BuiltPlugin } from "./PluginBuilder.ts"

/** Starts the tasks of all plugins in the given scope; one that fails is logged, and the host lives on. */
export const start = Effect.fnUntraced(function* (plugins: ReadonlyArray<BuiltPlugin>, scope: Scope.Scope) {
  for (const { plugin, context } of plugins) {
    for (const task of plugin.tasks) {
      yield* Effect.scoped(task.run).pipe(
        Effect.andThen(Effect.logDebug(`Task ${task.name} has ended`)),
        Effect.catchCause((cause) => Effect.logError(`Task ${task.name} failed`, cause)),
        Effect.provideContext(context),
        Effect.forkIn(scope)
      )
      yield* Effect.logDebug(`Started task ${task.name} of plugin ${plugin.id}`)
    }
  }
})
