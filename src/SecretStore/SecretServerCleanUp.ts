/**
 * What is left to do after a write that failed half-way: at once if the server lets it, else as soon as it is back.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Semaphore from "effect/Semaphore"
import type { KeyedLock } from "./KeyedLock.ts"
import type { SecretId } from "./SecretId.ts"
import type { BackendError } from "./SecretStorageError.ts"

/** Runs an effect that cleans up after a failure; what it says, or `undefined` where it has to wait for the server. */
export type CleanUp = <A>(id: SecretId, cleanUp: Effect.Effect<A, BackendError>) => Effect.Effect<A | undefined>

/** How many wait for their turn side by side, so that a server that is back is not overrun. */
const concurrency = 4

/** Waits for seconds that grow to half a minute, and gives up after about an hour. */
const patience = {
  schedule: Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")]).pipe(Schedule.jittered),
  times: 120
}

/** Cleans up for as long as the scope lasts. `lock` keeps what waits from the writes that come meanwhile. */
export const make = Effect.fnUntraced(function* (lock: KeyedLock) {
  const scope = yield* Effect.scope
  const turns = yield* Semaphore.make(concurrency)

  const later = <A>(id: SecretId, cleanUp: Effect.Effect<A, BackendError>) =>
    Semaphore.withPermit(turns, lock(id.id, cleanUp)).pipe(
      Effect.retry({ ...patience, while: (error) => error._tag === "SecretBackendUnavailable" }),
      Effect.matchEffect({
        onSuccess: () => Effect.logInfo(`What a failure left of the secret ${id.id} is cleaned up`),
        onFailure: (error) =>
          Effect.logError(`What a failure left of the secret ${id.id} stays, if anything: ${error.message}`)
      }),
      Effect.interruptible
    )

  const run: CleanUp = (id, cleanUp) =>
    cleanUp.pipe(
      Effect.catch(
        Effect.fnUntraced(function* (error) {
          yield* Effect.logWarning(`A failure may have left something of the secret ${id.id}: ${error.message}`)
          yield* Effect.forkIn(later(id, cleanUp), scope)
          return undefined
        })
      )
    )
  return run
})
