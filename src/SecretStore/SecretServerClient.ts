/**
 * The secret server as its engines' clients see it: requests go with a token that the server takes.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type { SecretServerAuth } from "./SecretServerAuth.ts"
import type { Call } from "./SecretServerCall.ts"
import type { Answer, Request } from "./SecretServerExchange.ts"
import { reasonOf } from "./SecretServerReason.ts"
import { type BackendError, SecretAccessDenied, SecretBackendUnavailable } from "./SecretStorageError.ts"

/** Sends requests that need a token. */
export interface SecretServerClient {
  /**
   * The answer to a request: success, or an error that only the caller can read (400 to 499, but for 401 and 403, which
   * are `SecretAccessDenied`). `operation` says in messages what it is for: "read a secret".
   */
  readonly send: (operation: string, request: Request) => Effect.Effect<Answer, BackendError>
}

/** Joins calls and tokens. A request that meets a token that is over is repeated once with another. */
export const make = (call: Call, auth: SecretServerAuth): SecretServerClient => ({
  send: (operation, request) => {
    const sendWith = (token: Redacted.Redacted) => call(operation, { ...request, token })

    const sendAgain = Effect.fnUntraced(function* (refused: Redacted.Redacted) {
      const other = yield* auth.replace(refused)
      const second = Option.isSome(other) ? yield* sendWith(other.value) : undefined
      if (second !== undefined && !isRefusal(second)) return second
      const reason = "permission denied: the token is over or unknown, or its policies do not allow this"
      return yield* new SecretAccessDenied({ operation, reason })
    })

    return Effect.flatMap(auth.token, (token) =>
      Effect.flatMap(sendWith(token), (answer) => (isRefusal(answer) ? sendAgain(token) : Effect.succeed(answer)))
    )
  }
})

const isRefusal = ({ status }: Answer) => status === 401 || status === 403

/** An answer that the caller has no use for. */
export const unexpected = (operation: string, request: Request, answer: Answer): SecretBackendUnavailable =>
  new SecretBackendUnavailable({
    operation,
    reason: reasonOf(request, answer),
    // This try was refused. The one before it may not have been.
    mayBeDone: answer.isRepeated === true
  })
