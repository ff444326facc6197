/**
 * Background tasks: work of a plugin that goes on beside the requests.
 */
import type * as Effect from "effect/Effect"

/**
 * A named effect that starts once the host listens. When the host stops, it is interrupted after the last request is
 * answered and before any service is released. A task that fails is logged with its name; the host lives on.
 */
export interface Task<out R = never> {
  readonly name: string
  readonly run: Effect.Effect<unknown, unknown, R>
}

/** Any task, whatever it requires. */
export type Any = Task<any>

/**
 * Makes a task that a plugin lists under `tasks`. Repetition is the effect's own: `Effect.repeat(schedule)`. Its `Scope`
 * closes when it ends.
 */
export const make = <R = never>(name: string, run: Effect.Effect<unknown, unknown, R>): Task<NoInfer<R>> => ({
  name,
  run
})
