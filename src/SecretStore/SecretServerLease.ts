/**
 * A token that the store logs in for and keeps alive: renewed when half of its time is over, and replaced by another login
 * when it cannot be renewed or when the server refuses it.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberHandle from "effect/FiberHandle"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { isSame, type SecretServerAuth } from "./SecretServerAuth.ts"
import type { Call } from "./SecretServerCall.ts"
import { type Lease, leaseOf } from "./SecretServerLogin.ts"
import type { BackendError, SecretAccessDenied } from "./SecretStorageError.ts"

/** How long a refused login is not repeated: a server may lock an account out that fails too often. */
const refusalMillis = 10_000

/**
 * Tokens by way of a login. The first login begins at once, beside whatever else starts; a server that is away then, or
 * that refuses it, is told by each request.
 */
export const make = Effect.fnUntraced(function* (
  call: Call,
  login: Effect.Effect<Lease, BackendError>
): Effect.fn.Return<SecretServerAuth, never, Scope.Scope> {
  const lock = yield* Semaphore.make(1)
  // Not forked from the request that happens to log in: its spans and annotations are none of the keeper's.
  const keepInstead = yield* FiberHandle.runtime(yield* FiberHandle.make<void>())()
  let current: Lease | undefined
  let refusal: { readonly error: SecretAccessDenied; readonly untilMillis: number } | undefined

  const valid = Effect.map(Clock.currentTimeMillis, (now) =>
    current !== undefined && (current.seconds === 0 || now < current.grantedAtMillis + current.seconds * 1000)
      ? current
      : undefined
  )

  const logIn: Effect.Effect<Lease, BackendError> = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    if (refusal !== undefined && now < refusal.untilMillis) return yield* refusal.error
    const lease = yield* login.pipe(
      Effect.tapErrorTag("SecretAccessDenied", (error) =>
        Effect.sync(() => void (refusal = { error, untilMillis: now + refusalMillis }))
      )
    )
    refusal = undefined
    yield* Effect.logInfo(
      lease.seconds === 0
        ? "Logged in to the secret server; the token does not end"
        : `Logged in to the secret server; the token lasts ${lease.seconds} seconds`
    )
    current = lease
    keepInstead(keep(lease, lease.seconds))
    return lease
  })

  const lease = Effect.flatMap(valid, (found) =>
    found !== undefined
      ? Effect.succeed(found)
      : Semaphore.withPermit(
          lock,
          Effect.flatMap(valid, (found) => (found === undefined ? logIn : Effect.succeed(found)))
        )
  )

  /** The lease with new time, or `undefined` when the server gives it none, or not much: then its longest life is near. */
  const renew = Effect.fnUntraced(function* (lease: Lease, fullSeconds: number) {
    if (!lease.renewable) return undefined
    const operation = "renew the token"
    const path = "auth/token/renew-self"
    const answer = yield* call(operation, { method: "POST", path, body: {}, token: lease.token })
    if (answer.status >= 400) return undefined
    const renewed = yield* leaseOf(operation, answer)
    return renewed.seconds * 2 >= fullSeconds ? renewed : undefined
  })

  /** Waits until half of the time is over, renews the lease or logs in, and begins again. */
  const keep = (lease: Lease, fullSeconds: number): Effect.Effect<void> =>
    Effect.gen(function* () {
      let kept = lease
      while (kept.seconds > 0) {
        yield* Effect.sleep(kept.seconds * 1000 * (yield* Random.nextBetween(0.45, 0.55)))
        const renewed: Lease | undefined = yield* persistently(renew(kept, fullSeconds))
        if (renewed === undefined) {
          // A login starts a keeper of its own, which takes this one's place.
          return yield* Effect.asVoid(persistently(Semaphore.withPermit(lock, logIn)))
        }
        kept = current = renewed
      }
    }).pipe(Effect.catch((error) => Effect.logError(`The secret server's token is not kept alive: ${error.message}`)))

  /** Until it works or is refused: a server that is away comes back. */
  const persistently = <A>(effect: Effect.Effect<A, BackendError>): Effect.Effect<A, BackendError> =>
    effect.pipe(
      Effect.tapErrorTag("SecretBackendUnavailable", (error) => Effect.logWarning(error.message)),
      Effect.retry({
        while: (error) => error._tag === "SecretBackendUnavailable",
        schedule: Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")]).pipe(
          Schedule.jittered
        )
      })
    )

  keepInstead(Effect.ignore(persistently(lease)))

  /** A token that is refused for what it may not do is as good as any other: only one that is over needs another. */
  const isOver = Effect.fnUntraced(function* (token: Redacted.Redacted) {
    const answer = yield* call("look up the token", { method: "GET", path: "auth/token/lookup-self", token })
    return answer.status >= 400
  })

  const isCurrent = (token: Redacted.Redacted) => current !== undefined && isSame(current.token, token)

  return {
    token: Effect.map(lease, ({ token }) => token),
    replace: Effect.fnUntraced(function* (refused) {
      if (isCurrent(refused) && !(yield* isOver(refused))) return Option.none()
      // Of many requests that are refused at the same time, the first one to come here logs in.
      const next = yield* Semaphore.withPermit(
        lock,
        Effect.suspend(() => (current === undefined || isCurrent(refused) ? logIn : Effect.succeed(current)))
      )
      return Option.some(next.token)
    })
  }
})
