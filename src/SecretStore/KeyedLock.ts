/**
 * One lock per key, for as long as someone holds or awaits it.
 */
import * as Effect from "effect/Effect"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"

/** Runs an effect when no other with the same key runs. */
export type KeyedLock = <A, E, R>(key: string, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** Locks of this process's own. */
export const make: Effect.Effect<KeyedLock, never, Scope.Scope> = Effect.map(
  RcMap.make({ lookup: (_key: string) => Semaphore.make(1) }),
  (locks) => (key, effect) =>
    Effect.scopedWith((scope) =>
      Effect.flatMap(Effect.provideService(RcMap.get(locks, key), Scope.Scope, scope), (lock) =>
        Semaphore.withPermit(lock, effect)
      )
    )
)
