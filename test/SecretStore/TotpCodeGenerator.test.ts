import { describe, expect, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { createHmac } from "node:crypto"
import * as TotpCodeGenerator from "../../src/SecretStore/TotpCodeGenerator.ts"
import { seed } from "./support/Credentials.ts"

describe("TotpCodeGenerator", () => {
  // RFC 6238, appendix B, SHA-1: the last 6 of the 8 digits.
  it.effect.each([
    [59, "287082"],
    [1111111109, "081804"],
    [1111111111, "050471"],
    [1234567890, "005924"],
    [2000000000, "279037"],
    [20000000000, "353130"]
  ] as const)("at %d seconds the code is %s", ([seconds, code]) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(seconds * 1000)
      expect(yield* TotpCodeGenerator.generate(seed, 30)).toBe(code)
    })
  )

  it.effect("agrees with another implementation, for many seeds, periods and times", () =>
    Effect.gen(function* () {
      for (let i = 1; i <= 500; i++) {
        const bytes = createHmac("sha256", "seed")
          .update(String(i))
          .digest()
          .subarray(0, 1 + (i % 32))
        const seconds = i * 7_654_321
        const period = 1 + (i % 90)
        yield* TestClock.setTime(seconds * 1000 + (i % 1000))
        expect(yield* TotpCodeGenerator.generate(toBase32(bytes), period)).toBe(oracle(bytes, seconds, period))
      }
    })
  )

  it.effect("code and expiry belong to the same period, up to its last millisecond", () =>
    Effect.gen(function* () {
      for (const [millis, remainingSeconds, validTill] of [
        [0, 30, 30_000],
        [1, 30, 30_000],
        [1_000, 29, 30_000],
        [29_000, 1, 30_000],
        [29_999, 1, 30_000],
        [30_000, 30, 60_000]
      ] as const) {
        yield* TestClock.setTime(millis)
        const { code, ...period } = yield* TotpCodeGenerator.current(seed, 30)
        expect(period).toEqual({ remainingSeconds, validTillUtc: DateTime.makeUnsafe(validTill) })
        expect(yield* TotpCodeGenerator.getPeriodInfo(30)).toEqual(period)
        yield* TestClock.setTime(validTill - 1)
        expect(yield* TotpCodeGenerator.generate(seed, 30)).toBe(code)
        yield* TestClock.setTime(validTill)
        expect(yield* TotpCodeGenerator.generate(seed, 30)).not.toBe(code)
      }
    })
  )

  it.effect("a seed that is not Base32 is a typed error that does not repeat it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(TotpCodeGenerator.generate("canary-0189", 30))
      expect(error._tag).toBe("SecretInvalid")
      expect(error.message).not.toContain("canary")
    })
  )
})

/** RFC 6238 over RFC 4226's own example of truncation, with plain arithmetic instead of a buffer's methods. */
const oracle = (key: Uint8Array, seconds: number, period: number): string => {
  const counter = Math.floor(seconds / period)
  const message = Uint8Array.from({ length: 8 }, (_, i) => Math.floor(counter / 256 ** (7 - i)) % 256)
  const hash = createHmac("sha1", key).update(message).digest()
  const offset = hash[19]! % 16
  const binary =
    (hash[offset]! % 128) * 2 ** 24 + hash[offset + 1]! * 2 ** 16 + hash[offset + 2]! * 2 ** 8 + hash[offset + 3]!
  return `000000${binary}`.slice(-6)
}

const toBase32 = (bytes: Uint8Array): string => {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("")
  return bits
    .match(/.{1,5}/g)!
    .map((five) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[Number.parseInt(five.padEnd(5, "0"), 2)])
    .join("")
}
