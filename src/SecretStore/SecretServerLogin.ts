/**
 * The ways to log in to the secret server: what each sends, and the lease on a token that comes back.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { readSecretFile } from "./SecretServerAuth.ts"
import type { Call } from "./SecretServerCall.ts"
import type { Answer, Request } from "./SecretServerExchange.ts"
import { type BackendError, SecretAccessDenied, SecretBackendUnavailable } from "./SecretStorageError.ts"

/** Who logs in, and at which auth mount. */
export type Login =
  | {
      readonly method: "appRole"
      readonly mount: string
      readonly roleId: string
      /** Empty for a role that asks for none. */
      readonly secretId: Redacted.Redacted
    }
  | {
      readonly method: "kubernetes"
      readonly mount: string
      readonly role: string
      /** The token of the pod's service account; read at each login, since the cluster replaces it. */
      readonly serviceAccountTokenFile: string
    }
  | {
      readonly method: "userpass"
      readonly mount: string
      readonly username: string
      readonly password: Redacted.Redacted
    }

/** A token with the time that the server gave it. */
export interface Lease {
  readonly token: Redacted.Redacted
  readonly grantedAtMillis: number
  /** 0 for a token that never ends. */
  readonly seconds: number
  readonly renewable: boolean
}

/** Logs in and gives the new lease. */
export const make = Effect.fnUntraced(function* (
  call: Call,
  login: Login
): Effect.fn.Return<Effect.Effect<Lease, BackendError>, never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const operation = `log in by ${login.method}`
  return Effect.gen(function* () {
    const answer = yield* call(operation, yield* toRequest(fs, login))
    // The server answers wrong credentials with 400, and with 403 also where nothing is mounted.
    if (answer.status === 400 || answer.status === 401 || answer.status === 403) {
      const reason = `the server refused the credentials (${answer.status}), or auth/${login.mount} is not mounted`
      return yield* new SecretAccessDenied({ operation, reason })
    }
    return yield* leaseOf(operation, answer)
  })
})

/** The lease in an answer to a login or a renewal. */
export const leaseOf = Effect.fnUntraced(function* (
  operation: string,
  answer: Answer
): Effect.fn.Return<Lease, SecretBackendUnavailable> {
  const { auth } = yield* Effect.mapError(
    decodeAuth(answer.body),
    () => new SecretBackendUnavailable({ operation, reason: `it answered ${answer.status} without a token` })
  )
  return {
    token: auth.client_token,
    grantedAtMillis: yield* Clock.currentTimeMillis,
    seconds: auth.lease_duration,
    renewable: auth.renewable
  }
})

const decodeAuth = Schema.decodeUnknownEffect(
  Schema.Struct({
    auth: Schema.Struct({
      client_token: Schema.RedactedFromValue(Schema.NonEmptyString),
      lease_duration: Schema.Natural,
      renewable: Schema.Boolean
    })
  })
)

const toRequest = Effect.fnUntraced(function* (
  fs: FileSystem.FileSystem,
  login: Login
): Effect.fn.Return<Request, SecretBackendUnavailable> {
  const post = (path: string, body: { readonly [name: string]: string }): Request => ({
    method: "POST",
    path: `auth/${login.mount}/login${path}`,
    body
  })
  switch (login.method) {
    case "appRole": {
      const secretId = Redacted.value(login.secretId)
      return post("", { role_id: login.roleId, ...(secretId !== "" && { secret_id: secretId }) })
    }
    case "kubernetes": {
      const jwt = yield* readSecretFile(fs, login.serviceAccountTokenFile, "read the service account's token")
      return post("", { role: login.role, jwt: Redacted.value(jwt) })
    }
    case "userpass":
      return post(`/${encodeURIComponent(login.username)}`, { password: Redacted.value(login.password) })
  }
})
