/**
 * The secret server's TOTP engine: it takes seeds, and gives codes but no seed back.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type SecretServerClient, unexpected } from "./SecretServerClient.ts"
import type { Request } from "./SecretServerExchange.ts"
import { says } from "./SecretServerReason.ts"
import { type BackendError, SecretBackendUnavailable } from "./SecretStorageError.ts"
import type { TotpCode } from "./Totp.ts"
import * as TotpCodeGenerator from "./TotpCodeGenerator.ts"

/** The seeds below a mount. `operation` says in messages what the caller is about: "read a secret". */
export interface TotpEngine {
  /** How long a code lasts. */
  readonly periodInSeconds: number
  /** The code of the current period; `None` where there is no seed. */
  readonly code: (operation: string, name: string) => Effect.Effect<Option.Option<TotpCode>, BackendError>
  /** Puts a seed in the place of any that is there. */
  readonly put: (
    operation: string,
    name: string,
    seed: { readonly base32Key: Redacted.Redacted; readonly accountName: string }
  ) => Effect.Effect<void, BackendError>
  /** Whether a seed is the one that is there, by the codes that it gives. */
  readonly holds: (
    operation: string,
    name: string,
    base32Key: Redacted.Redacted
  ) => Effect.Effect<boolean, BackendError>
  /** Removes a seed, if there is one. */
  readonly remove: (operation: string, name: string) => Effect.Effect<void, BackendError>
}

/** What is stored with every seed. */
export interface Options {
  readonly issuer: string
  readonly periodInSeconds: number
}

/** The engine at a mount. */
export const make = (client: SecretServerClient, mount: string, options: Options): TotpEngine => {
  const read = Effect.fnUntraced(function* (operation: string, name: string) {
    const request: Request = { method: "GET", path: `${mount}/code/${name}` }
    const answer = yield* client.send(operation, request)
    if (answer.status === 400 && says(answer, /unknown key/i)) return Option.none()
    if (answer.status !== 200) return yield* unexpected(operation, request, answer)
    return Option.some(yield* Effect.mapError(decodeCode(answer.body), () => unreadable(operation)))
  })

  const code: TotpEngine["code"] = Effect.fnUntraced(function* (operation, name) {
    for (let attempt = 1; ; attempt++) {
      const askedAt = yield* Clock.currentTimeMillis
      const answer = yield* read(operation, name)
      if (Option.isNone(answer)) return Option.none()
      const { code: digits, expire_time: expiry, generated } = answer.value.data
      const arrivedAt = yield* Clock.currentTimeMillis
      // The server's clock, where it tells its time, may differ from this one. A code without a time belongs to the
      // period in which it was asked for, provided that it came in the same one.
      const now = generated === undefined ? arrivedAt : generated * 1000 + (arrivedAt - askedAt)
      const end = expiry === undefined ? endOfPeriod(askedAt, options.periodInSeconds) : expiry * 1000
      if (now < end || attempt === maxReads) return Option.some(codeUntil(digits, end, now))
    }
  })

  return {
    periodInSeconds: options.periodInSeconds,
    code,

    holds: Effect.fnUntraced(function* (operation, name, base32Key) {
      const found = yield* code(operation, name)
      if (Option.isNone(found)) return false
      const end = DateTime.toEpochMillis(found.value.validTillUtc)
      const given = { code: Redacted.value(found.value.code), end }
      return TotpCodeGenerator.isCodeOf(Redacted.value(base32Key), given, options.periodInSeconds)
    }),

    put: Effect.fnUntraced(function* (operation, name, { accountName, base32Key }) {
      const body = {
        key: Redacted.value(base32Key),
        issuer: options.issuer,
        account_name: accountName,
        period: options.periodInSeconds,
        algorithm: "SHA1",
        digits: 6
      }
      const request: Request = { method: "POST", path: `${mount}/keys/${name}`, body }
      const answer = yield* client.send(operation, request)
      if (answer.status >= 400) return yield* unexpected(operation, request, answer)
    }),

    remove: Effect.fnUntraced(function* (operation, name) {
      const request: Request = { method: "DELETE", path: `${mount}/keys/${name}` }
      const answer = yield* client.send(operation, request)
      const isAbsent = answer.status === 404 && answer.errors?.length === 0
      if (answer.status >= 400 && !isAbsent) return yield* unexpected(operation, request, answer)
    })
  }
}

/** A code whose period ended on its way is read again; periods of a second and a slow server must not do so for ever. */
const maxReads = 3

const endOfPeriod = (millis: number, periodInSeconds: number): number => {
  const period = periodInSeconds * 1000
  return (Math.floor(millis / period) + 1) * period
}

const codeUntil = (code: Redacted.Redacted, end: number, now: number): TotpCode => ({
  code,
  remainingSeconds: Math.max(0, Math.ceil((end - now) / 1000)),
  validTillUtc: DateTime.makeUnsafe(end)
})

const decodeCode = Schema.decodeUnknownEffect(
  Schema.Struct({
    data: Schema.Struct({
      code: Schema.RedactedFromValue(Schema.NonEmptyString),
      // Seconds since the epoch; some servers leave them out.
      expire_time: Schema.optionalKey(Schema.Finite),
      generated: Schema.optionalKey(Schema.Finite)
    })
  })
)

const unreadable = (operation: string) =>
  new SecretBackendUnavailable({ operation, reason: "its answer is not one of a TOTP engine" })
