/**
 * Time-based one-time passwords (RFC 6238) with HMAC-SHA1 and 6 digits, as authenticator apps compute them.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { createHmac } from "node:crypto"
import * as Base32 from "./Base32.ts"
import { SecretInvalid } from "./SecretStorageError.ts"

/** When a code ends. */
export interface PeriodInfo {
  /** Whole seconds until then, from the period's length down to 1. */
  readonly remainingSeconds: number
  readonly validTillUtc: DateTime.Utc
}

/** The code of the current period for a Base32 seed. Use {@link current} when the period's end matters too. */
export const generate = (base32Key: string, periodInSeconds: number): Effect.Effect<string, SecretInvalid> =>
  Effect.map(current(base32Key, periodInSeconds), ({ code }) => code)

/** What remains of the current period. */
export const getPeriodInfo = (periodInSeconds: number): Effect.Effect<PeriodInfo> =>
  Effect.map(Clock.currentTimeMillis, (millis) => periodAt(millis, periodInSeconds))

/** The current code together with the end of the very period that it belongs to. */
export const current = (
  base32Key: string,
  periodInSeconds: number
): Effect.Effect<PeriodInfo & { readonly code: string }, SecretInvalid> =>
  Option.match(Base32.decode(base32Key), {
    onNone: () => Effect.fail(new SecretInvalid({ issues: [{ field: "base32Key", message: "Expected Base32 text" }] })),
    onSome: (seed) =>
      Effect.map(Clock.currentTimeMillis, (millis) => ({
        code: codeAt(seed, millis, periodInSeconds),
        ...periodAt(millis, periodInSeconds)
      }))
  })

const periodAt = (millis: number, periodInSeconds: number): PeriodInfo => {
  const period = periodInSeconds * 1000
  const end = (Math.floor(millis / period) + 1) * period
  return { remainingSeconds: Math.ceil((end - millis) / 1000), validTillUtc: DateTime.makeUnsafe(end) }
}

/** HOTP (RFC 4226) of the number of periods since the epoch. */
const codeAt = (seed: Uint8Array, millis: number, periodInSeconds: number): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(millis / (periodInSeconds * 1000))))
  const mac = createHmac("sha1", seed).update(counter).digest()
  const offset = mac[mac.length - 1]! & 0xf
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0")
}
