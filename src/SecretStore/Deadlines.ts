/**
 * One limit in time for many that wait for something. A timer for each would cost more than most of them take, since
 * nearly none comes to its end.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import type * as Scope from "effect/Scope"

/** Limits waits to the same time each. */
export interface Deadlines {
  /** Begins a wait now. `onEnd` is called when its time is over, unless {@link done} was before. */
  readonly begin: (nowMillis: number, onEnd: () => void) => Wait
  readonly done: (wait: Wait) => void
}

/** A wait that has begun. */
export interface Wait {
  readonly endMillis: number
  readonly onEnd: () => void
}

/** Limits of so much time, by the clock of the fiber that makes them, for as long as the scope lasts. */
export const make = Effect.fnUntraced(function* (
  limit: Duration.Input
): Effect.fn.Return<Deadlines, never, Scope.Scope> {
  const limitMillis = Duration.toMillis(limit)
  const run = yield* FiberHandle.runtime(yield* FiberHandle.make<void>())()
  // In the order of their ends, since each is given the same time.
  const waits = new Set<Wait>()
  let isWatched = false

  const watch = Effect.gen(function* () {
    for (;;) {
      const [first] = waits
      if (first === undefined) break
      const left = first.endMillis - (yield* Clock.currentTimeMillis)
      if (left > 0) {
        yield* Effect.sleep(left)
        // What came in time, while this process was busy with something else, is to be seen first.
        yield* Effect.yieldNow
      } else {
        waits.delete(first)
        first.onEnd()
      }
    }
    isWatched = false
  })

  return {
    begin: (nowMillis, onEnd) => {
      const wait = { endMillis: nowMillis + limitMillis, onEnd }
      waits.add(wait)
      if (!isWatched) {
        isWatched = true
        run(watch)
      }
      return wait
    },
    done: (wait) => void waits.delete(wait)
  }
})
