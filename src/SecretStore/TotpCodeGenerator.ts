/**
 * Time-based one-time passwords (RFC 6238) with HMAC-SHA1 and 6 digits, as authenticator apps compute them.
 */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { createHmac } from "node:crypto"
import * as Base32 from "./Base32.ts"
import { seedOf } from "./OtpauthUri.ts"
import { SecretInvalid } from "./SecretStorageError.ts"

/** When a code ends. */
export interface PeriodInfo {
  /** Whole seconds until then, from the period's length down to 1. */
  readonly remainingSeconds: number
  readonly validTillUtc: DateTime.Utc
}

/** The code of the current period for a seed, in Base32 or as an `otpauth://` URI. Use {@link current} when the period's end matters too. */
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
  Effect.clockWith((clock) => {
    const millis = clock.currentTimeMillisUnsafe()
    const code = at(base32Key, millis, periodInSeconds)
    return Result.isSuccess(code)
      ? Effect.succeed({ code: code.success, ...periodAt(millis, periodInSeconds) })
      : Effect.fail(code.failure)
  })

/** The code of the period that a point in time belongs to. */
export const at = (
  base32Key: string,
  millis: number,
  periodInSeconds: number
): Result.Result<string, SecretInvalid> => {
  const invalid = (message: string) => new SecretInvalid({ issues: [{ field: "base32Key", message }] })
  return seedOf(base32Key, periodInSeconds).pipe(
    Result.flatMap((seed) => Result.fromOption(Base32.decode(seed), () => "Expected Base32 text")),
    Result.mapBoth({ onFailure: invalid, onSuccess: (seed) => codeAt(seed, millis, periodInSeconds) })
  )
}

/**
 * Whether a code that a server gave is the seed's: that of the period which ends at `end`, in milliseconds since the epoch, or
 * of one beside it, since the server's clock may be ahead or behind.
 */
export const isCodeOf = (
  base32Key: string,
  { code, end }: { readonly code: string; readonly end: number },
  periodInSeconds: number
): boolean =>
  [-1, 0, 1].some((periods) => {
    const millis = Math.max(0, end - 1 + periods * periodInSeconds * 1000)
    return Option.contains(Result.getSuccess(at(base32Key, millis, periodInSeconds)), code)
  })

const periodAt = (millis: number, periodInSeconds: number): PeriodInfo => {
  const period = periodInSeconds * 1000
  const end = (Math.floor(millis / period) + 1) * period
  return { remainingSeconds: Math.ceil((end - millis) / 1000), validTillUtc: DateTime.makeUnsafe(end) }
}

/** HOTP (RFC 4226) of the number of periods since the epoch. */
const codeAt = (seed: Uint8Array, millis: number, periodInSeconds: number): string => {
  const counter = Buffer.alloc(8)
  const periods = Math.floor(millis / (periodInSeconds * 1000))
  counter.writeUInt32BE(Math.floor(periods / 2 ** 32), 0)
  counter.writeUInt32BE(periods % 2 ** 32, 4)
  const mac = createHmac("sha1", seed).update(counter).digest()
  const offset = mac[mac.length - 1]! & 0xf
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0")
}
