import * as Effect from "effect/Effect"

/** Lets sockets have their turn. */
export const aTurn = Effect.promise<void>(() => new Promise((resolve) => setImmediate(resolve)))

/** Waits for what comes of real requests. The test's own time limit bounds it. */
export const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (condition() ? Effect.void : Effect.andThen(aTurn, until(condition))))
