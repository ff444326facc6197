/**
 * Calls to the secret server that bear what passes: lost connections, restarts, a server that asks to slow down.
 *
 * Every call may be repeated without harm. Reads and deletions change nothing the second time, writes of secrets name the
 * version that they replace, and a seed is written over by itself.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Deadlines from "./Deadlines.ts"
import type { Answer, Exchange, Request, Waiting } from "./SecretServerExchange.ts"
import { reasonOf, says } from "./SecretServerReason.ts"
import { NoAnswer } from "./SecretServerResponse.ts"
import { SecretBackendUnavailable } from "./SecretStorageError.ts"

/**
 * Sends a request until there is an answer that another try would not change: success, or an error of the caller's own
 * (400 to 499, but for 412 and 429). `operation` says in messages what it is for: "read a secret".
 */
export type Call = (operation: string, request: Request) => Effect.Effect<Answer, SecretBackendUnavailable>

const maxAttempts = 5
const firstDelayMillis = 100

/** What holds for every call. */
export interface Options {
  /** Bounds a call with all its repetitions. */
  readonly timeout: Duration.Duration
  readonly namespace: string | undefined
}

/** Calls over an exchange, for as long as the scope lasts. */
export const make = Effect.fnUntraced(function* (
  exchange: Exchange,
  { namespace, timeout }: Options
): Effect.fn.Return<Call, never, Scope.Scope> {
  const deadlines = yield* Deadlines.make(timeout)

  return (operation, plain) =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const request = namespace === undefined ? plain : { ...plain, namespace }
      let reason = `it gave no answer within ${Duration.toSeconds(timeout)} seconds`
      // Of a request without an answer, nobody knows.
      let mayBeDone = false
      let isLate = false
      const waiting: Waiting = { giveUp: undefined }
      const deadline = deadlines.begin(clock.currentTimeMillisUnsafe(), () => {
        isLate = true
        waiting.giveUp?.(new NoAnswer({ reason, transient: false, sent: true }))
      })

      const attempt = (number: number): Effect.Effect<Answer, SecretBackendUnavailable> =>
        Effect.matchEffect(exchange(request, waiting), {
          onSuccess: (answer) => {
            if (isFinal(answer)) return Effect.succeed(number === 1 ? answer : { ...answer, isRepeated: true })
            reason = reasonOf(request, answer)
            mayBeDone ||= isTrouble(answer)
            return isTransient(answer) ? repeat(number, (answer.retryAfter ?? 0) * 1000) : unavailable
          },
          onFailure: (error) => {
            if (!isLate) reason = error.reason
            mayBeDone ||= error.sent
            return error.transient ? repeat(number, 0) : unavailable
          }
        })

      const repeat = (number: number, askedMillis: number) =>
        Effect.flatMap(Random.nextBetween(0.5, 1.5), (factor) => {
          const delay = Math.max(askedMillis, firstDelayMillis * 2 ** (number - 1) * factor)
          return number === maxAttempts || clock.currentTimeMillisUnsafe() + delay >= deadline.endMillis
            ? unavailable
            : Effect.andThen(Effect.sleep(delay), attempt(number + 1))
        })

      const unavailable = Effect.suspend(() =>
        Effect.fail(new SecretBackendUnavailable({ operation, reason, mayBeDone }))
      )

      return Effect.onExitPrimitive(attempt(1), () => {
        deadlines.done(deadline)
        return undefined
      })
    })
})

/** A standby that has not caught up yet (412), an engine that is not ready yet, too many requests, or a server in trouble. */
const isTransient = (answer: Answer) =>
  answer.status === 412 ||
  answer.status === 429 ||
  (answer.status >= 500 && answer.status !== 501) ||
  (answer.status === 400 && says(answer, /upgrading from non-versioned/i))

/** An answer that does not say that nothing was done. */
const isTrouble = (answer: Answer) => answer.status >= 500 && answer.status !== 501 && !says(answer, /\bsealed\b/i)

const isFinal = (answer: Answer) =>
  (answer.status >= 200 && answer.status < 300) || (answer.status >= 400 && answer.status < 500 && !isTransient(answer))
