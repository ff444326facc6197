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
import * as Result from "effect/Result"
import type { Answer, Exchange, Request } from "./SecretServerExchange.ts"
import { reasonOf, says } from "./SecretServerReason.ts"
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

/** Calls over an exchange. */
export const make =
  (exchange: Exchange, { namespace, timeout }: Options): Call =>
  (operation, plain) =>
    Effect.suspend(() => {
      const request = namespace === undefined ? plain : { ...plain, namespace }
      let reason = `it gave no answer within ${Duration.toSeconds(timeout)} seconds`
      // Of a request without an answer, nobody knows.
      let mayBeDone = false
      let isUnderWay = false
      const unavailable = Effect.suspend(() =>
        Effect.fail(new SecretBackendUnavailable({ operation, reason, mayBeDone: mayBeDone || isUnderWay }))
      )

      const repeat = Effect.gen(function* () {
        const deadline = (yield* Clock.currentTimeMillis) + Duration.toMillis(timeout)
        for (let attempt = 1; ; attempt++) {
          isUnderWay = true
          const result = yield* Effect.result(exchange(request))
          isUnderWay = false
          if (Result.isSuccess(result) && isFinal(result.success)) {
            return attempt === 1 ? result.success : { ...result.success, isRepeated: true }
          }
          const failed = Result.isFailure(result)
          reason = failed ? result.failure.reason : reasonOf(request, result.success)
          mayBeDone ||= failed ? result.failure.sent : isTrouble(result.success)
          const transient = failed ? result.failure.transient : isTransient(result.success)
          if (!transient || attempt === maxAttempts) return yield* unavailable
          const asked = failed ? 0 : (result.success.retryAfter ?? 0) * 1000
          const delay = Math.max(asked, firstDelayMillis * 2 ** (attempt - 1) * (yield* Random.nextBetween(0.5, 1.5)))
          if ((yield* Clock.currentTimeMillis) + delay >= deadline) return yield* unavailable
          yield* Effect.sleep(delay)
        }
      })
      return Effect.timeoutOrElse(repeat, { duration: timeout, orElse: () => unavailable })
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
