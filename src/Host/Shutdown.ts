/** The beginning of the end: what the host tells before it stops listening. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Whether the host has begun to shut down. */
export class Shutdown {
  #hasBegun = false

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /**
   * Begins the shutdown: readiness fails and connections are closed after their answer, and for `delay` requests are still
   * taken, so that whoever routes them here has time to notice.
   */
  begin(delay: Duration.Duration): Effect.Effect<void> {
    return Effect.sync(() => {
      this.#hasBegun = true
    }).pipe(Effect.andThen(Effect.logInfo("Shutting down")), Effect.andThen(Effect.sleep(delay)))
  }
}
