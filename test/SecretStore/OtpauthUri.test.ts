import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { seedOf } from "../../src/SecretStore/OtpauthUri.ts"
import * as TotpCodeGenerator from "../../src/SecretStore/TotpCodeGenerator.ts"
import { seed } from "./support/Credentials.ts"

describe("seedOf", () => {
  it.each([
    `otpauth://totp/Bank:ada@example.com?secret=${seed}&issuer=Bank`,
    `otpauth://totp/ada?secret=${seed}`,
    `otpauth://totp/Big%20Bank:ada?issuer=Big%20Bank&period=30&digits=6&algorithm=sha1&secret=${seed}`,
    ` OTPAUTH://TOTP/ada?secret=${seed} `
  ])("takes the seed out of %s", (uri) => {
    expect(seedOf(uri)).toEqual(Result.succeed(seed))
  })

  it.each([
    ["otpauth://", "otpauth://totp/"],
    [`otpauth://hotp/ada?secret=${seed}&counter=0`, "otpauth://totp/"],
    ["otpauth:totp?secret=canary", "otpauth://totp/"],
    [`otpauth://totp/ada?secret=${seed}&digits=8`, "digits, if any, is 6"],
    [`otpauth://totp/ada?secret=${seed}&period=canary`, "period, if any, is in seconds"],
    [`otpauth://totp/ada?secret=${seed}&period=0`, "period, if any, is in seconds"],
    [`otpauth://totp/ada?secret=${seed}&algorithm=SHA512`, "algorithm, if any, is SHA1"]
  ])("refuses %s, whose codes would be others, and says why", (uri, message) => {
    const error = Result.getOrThrow(Result.flip(seedOf(uri)))
    expect(error).toContain(message)
    expect(error).not.toContain("canary")
  })

  it("holds a URI to the period that its codes are to have; 30 seconds is that of a URI without one", () => {
    const uri = `otpauth://totp/ada?secret=${seed}`
    expect(seedOf(uri, 30)).toEqual(Result.succeed(seed))
    expect(seedOf(`${uri}&period=60`, 60)).toEqual(Result.succeed(seed))
    expect(seedOf(`${uri}&period=60`)).toEqual(Result.succeed(seed))
    for (const [other, period] of [
      [uri, 60],
      [`${uri}&period=60`, 30]
    ] as const) {
      const error = Result.getOrThrow(Result.flip(seedOf(other, period)))
      expect(error).toBe(`Expected an otpauth URI whose period, 30 where it says none, is ${period}`)
    }
  })

  it("gives any other text back as it is, and never throws", () => {
    const pieces = [
      "otpauth",
      ":",
      "//",
      "totp",
      "/",
      "?",
      "#",
      "@",
      "[",
      "%",
      "%zz",
      "secret",
      "=",
      "&",
      "\u0000",
      "\ud800",
      seed
    ]
    for (let i = 0; i < 5000; i++) {
      const text = Array.from(
        { length: i % 8 },
        (_, j) => pieces[(i * 7919 + j * 104_729 * (i + 1)) % pieces.length]
      ).join("")
      if (!/^\s*otpauth:/i.test(text)) expect(seedOf(text)).toEqual(Result.succeed(text))
      seedOf(`otpauth:${text}`)
      seedOf(`otpauth://totp/${text}`)
    }
  })
})

describe("TotpCodeGenerator", () => {
  it.effect("takes a URI where it takes a seed", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(59_000)
      expect(yield* TotpCodeGenerator.generate(`otpauth://totp/ada?secret=${seed}`, 30)).toBe("287082")
      expect((yield* Effect.flip(TotpCodeGenerator.generate("otpauth://totp/ada", 30)))._tag).toBe("SecretInvalid")
      const uri = `otpauth://totp/ada?secret=${seed}&period=60`
      expect(yield* TotpCodeGenerator.generate(uri, 60)).toBe(yield* TotpCodeGenerator.generate(seed, 60))
      expect((yield* Effect.flip(TotpCodeGenerator.generate(uri, 30)))._tag).toBe("SecretInvalid")
    })
  )
})
