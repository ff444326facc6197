/** What a host says while a test looks on, in the order in which it is said. */
import * as Effect from "effect/Effect"

/** Takes entries, and gives them to tests. */
export interface Recording<A> {
  readonly add: (entry: A) => void
  /** Everything so far; waits for what the current turn of the event loop still brings. */
  readonly all: Effect.Effect<ReadonlyArray<A>>
  /** Waits for the first entry that is meant, which may be there already. */
  readonly waitFor: (isMeant: (entry: A) => boolean) => Effect.Effect<A>
}

/** Makes an empty recording. */
export const make = <A>(): Recording<A> => {
  const entries: Array<A> = []
  const waiting = new Set<(entry: A) => void>()
  return {
    add: (entry) => {
      entries.push(entry)
      for (const look of waiting) look(entry)
    },
    all: Effect.map(
      Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
      () => [...entries]
    ),
    waitFor: (isMeant) =>
      Effect.callback((resume) => {
        const found = entries.find(isMeant)
        if (found !== undefined) return resume(Effect.succeed(found))
        const look = (entry: A) => {
          if (!isMeant(entry)) return
          waiting.delete(look)
          resume(Effect.succeed(entry))
        }
        waiting.add(look)
        return Effect.sync(() => waiting.delete(look))
      })
  }
}
