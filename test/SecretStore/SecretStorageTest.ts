/** The contract of a backend, seen through the storage: every backend runs the same cases. */
import { describe, expect, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import * as BucketSet from "../../src/SecretStore/BucketSet.ts"
import type { Secret, SecretInput } from "../../src/SecretStore/Secret.ts"
import { SecretBackend } from "../../src/SecretStore/SecretBackend.ts"
import * as SecretId from "../../src/SecretStore/SecretId.ts"
import * as SecretStorage from "../../src/SecretStore/SecretStorage.ts"
import * as SecretType from "../../src/SecretStore/SecretType.ts"
import * as TotpCodeGenerator from "../../src/SecretStore/TotpCodeGenerator.ts"
import { Credentials, CredentialStorage, login, samples, seed } from "./support/Credentials.ts"

const Other = BucketSet.make("Other", { ApiKeys: 0 })
class OtherStorage extends SecretStorage.Service<OtherStorage>()("test/OtherStorage", Other) {}

/**
 * `clock` is the time that the backend goes by. Only a server of its own has the real one; the others have the test's, and
 * one case more.
 */
export const suite = <E>(
  name: string,
  backend: Layer.Layer<SecretBackend, E>,
  { clock = "test" }: { readonly clock?: "test" | "real" } = {}
) => {
  const test = clock === "test" ? it.effect : it.live
  const layer = Layer.mergeAll(CredentialStorage.layer, OtherStorage.layer).pipe(Layer.provideMerge(backend))

  describe(`SecretStorage over ${name}`, () => {
    test.each(["UsernamePassword", "UsernamePasswordApiKey", "Certificate"] as const)(
      "creates, reads, updates and deletes a %s",
      (type) =>
        Effect.gen(function* () {
          const storage = yield* CredentialStorage
          const id = yield* storage.create("ServiceAccounts", samples[type])
          expect(id).toMatchObject({ bucket: "ServiceAccounts", type })
          expect(SecretId.parse(Credentials, id.id)).toEqual(Option.some(id))
          expect(revealed(yield* storage.get(id))).toEqual(revealed(samples[type]))

          const changed: SecretInput =
            type === "Certificate"
              ? { type, certificate: samples.Certificate.certificate }
              : { ...samples[type], username: "grace", password: Redacted.make("ünïcödé \ud83d\udd11\n\"'") }
          expect(yield* storage.update(id, changed)).toEqual(id)
          expect(revealed(yield* storage.get(id))).toEqual(revealed(changed))

          yield* storage.delete(id)
          expect(yield* Effect.flip(storage.get(id))).toMatchObject({ _tag: "SecretNotFound", id: id.id })
        }).pipe(Effect.provide(layer))
    )

    test("a one-time password is written with its seed and read with its code", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", samples.UsernamePasswordTotp)
        yield* expectCode(storage.get(id), seed)
        yield* storage.update(id, totp("JBSWY3DPEHPK3PXP"))
        yield* expectCode(storage.get(id), "JBSWY3DPEHPK3PXP")
      }).pipe(Effect.provide(layer)))

    if (clock === "test") {
      it.effect("code and expiry belong to the same period", () =>
        Effect.gen(function* () {
          const storage = yield* CredentialStorage
          yield* TestClock.setTime(59_000)
          const id = yield* storage.create("ApiKeys", samples.UsernamePasswordTotp)
          const secret = yield* storage.get(id)
          expect(revealed(secret)).toEqual({
            type: "UsernamePasswordTotp",
            username: "ada",
            password: "canary-password",
            totp: { totpCode: { code: "287082", remainingSeconds: 1, validTillUtc: DateTime.makeUnsafe(60_000) } }
          })

          yield* TestClock.setTime(60_000)
          const code = yield* TotpCodeGenerator.generate(seed, 30)
          expect(revealed(yield* storage.get(id))).toMatchObject({
            totp: { totpCode: { code, remainingSeconds: 30, validTillUtc: DateTime.makeUnsafe(90_000) } }
          })

          yield* storage.update(id, totp("JBSWY3DPEHPK3PXP"))
          const changed = yield* TotpCodeGenerator.generate("JBSWY3DPEHPK3PXP", 30)
          expect(changed).not.toBe(code)
          expect(revealed(yield* storage.get(id))).toMatchObject({ totp: { totpCode: { code: changed } } })
        }).pipe(Effect.provide(layer))
      )
    }

    test("a seed may have spaces and lower case, and a code that comes with it is ignored", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const spaced = totp(seed.toLowerCase().replaceAll(/(.{4})/g, "$1 "))
        const withCode = { ...spaced, totp: { ...spaced.totp, totpCode: { code: 1 } } }
        const id = yield* storage.create("ApiKeys", withCode)
        yield* expectCode(storage.get(id), seed)
      }).pipe(Effect.provide(layer)))

    test("a seed may be the otpauth URI of a QR code", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const uri = `otpauth://totp/Bank:ada?secret=${seed.toLowerCase()}&issuer=Bank&algorithm=SHA1&digits=6&period=30`
        const id = yield* storage.create("ApiKeys", totp(uri))
        yield* expectCode(storage.get(id), seed)
      }).pipe(Effect.provide(layer)))

    test("what is invalid is refused with every field, on create and update, and nothing is written", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", samples.UsernamePasswordTotp)
        const before = revealed(yield* storage.get(id))
        for (const [secret, fields] of invalid) {
          for (const write of [storage.create("ApiKeys", secret), storage.update(id, secret)]) {
            const error = yield* Effect.flip(write)
            if (error._tag !== "SecretInvalid") return expect.fail(error.message)
            expect(error.issues.map(({ field }) => field)).toEqual(fields)
            expect(error.message).not.toContain("canary")
          }
        }
        expect(revealed(yield* storage.get(id))).toEqual(before)
      }).pipe(Effect.provide(layer)))

    test("an unknown bucket is invalid", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        for (const bucket of ["Nope", "__proto__", "../ApiKeys"]) {
          const error = yield* Effect.flip(storage.create(bucket as "ApiKeys", samples.UsernamePassword))
          expect(error).toMatchObject({ _tag: "SecretInvalid", issues: [{ field: "bucket" }] })
        }
      }).pipe(Effect.provide(layer)))

    test("an update cannot change the type", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        for (const type of SecretType.all) {
          const id = yield* storage.create("ApiKeys", samples[type])
          for (const other of SecretType.all.filter((other) => other !== type)) {
            expect(yield* Effect.flip(storage.update(id, samples[other]))).toMatchObject({
              _tag: "SecretTypeMismatch",
              id: id.id,
              expected: type,
              actual: other
            })
          }
          expect((yield* storage.get(id)).type).toBe(type)
        }
      }).pipe(Effect.provide(layer)))

    test("what is not there cannot be read or updated, and can be deleted", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        for (const type of SecretType.all) {
          const id = yield* SecretId.generate(Credentials, "ApiKeys", type)
          expect((yield* Effect.flip(storage.get(id)))._tag).toBe("SecretNotFound")
          expect((yield* Effect.flip(storage.update(id, samples[type])))._tag).toBe("SecretNotFound")
          expect((yield* Effect.flip(storage.get(id)))._tag).toBe("SecretNotFound")
          yield* storage.delete(id)
        }
      }).pipe(Effect.provide(layer)))

    test("a deleted secret stays deleted, and its neighbours stay", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const [one, two] = [yield* storage.create("ApiKeys", login("1")), yield* storage.create("ApiKeys", login("2"))]
        yield* storage.delete(one)
        yield* storage.delete(one)
        expect((yield* Effect.flip(storage.update(one, login("3"))))._tag).toBe("SecretNotFound")
        expect(revealed(yield* storage.get(two))).toEqual(revealed(login("2")))
      }).pipe(Effect.provide(layer)))

    test("bucket sets do not see each other's secrets", () =>
      Effect.gen(function* () {
        const id = yield* (yield* CredentialStorage).create("ApiKeys", login("1"))
        const other = Option.getOrThrow(SecretId.parse(Other, id.id))
        expect((yield* Effect.flip((yield* OtherStorage).get(other)))._tag).toBe("SecretNotFound")
      }).pipe(Effect.provide(layer)))

    test("a create never overwrites", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", login("1"))
        const again = (yield* SecretBackend).create({ bucketSet: "Credentials", id }, login("2"))
        expect(Exit.isFailure(yield* Effect.exit(again))).toBe(true)
        expect(revealed(yield* storage.get(id))).toEqual(revealed(login("1")))
      }).pipe(Effect.provide(layer)))

    test("an update at the same time as a delete does not bring the secret back", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        for (let round = 0; round < 20; round++) {
          const id = yield* storage.create("ApiKeys", login("1"))
          const update = Effect.exit(storage.update(id, login("2")))
          const remove = Effect.exit(storage.delete(id))
          yield* Effect.all(round % 2 === 0 ? [update, remove] : [remove, update], { concurrency: 2 })
          expect((yield* Effect.flip(storage.get(id)))._tag).toBe("SecretNotFound")
        }
      }).pipe(Effect.provide(layer)))

    test("readers beside a writer see one whole value or another", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const size = 20_000
        const whole = (i: number) => login(String(i % 10).repeat(size))
        const id = yield* storage.create("ApiKeys", whole(0))
        const write = Effect.forEach(
          Array.from({ length: 30 }, (_, i) => i),
          (i) => storage.update(id, whole(i))
        )
        const read = Effect.forEach(Array.from({ length: 60 }), () => storage.get(id))
        const [, reads] = yield* Effect.all([write, read], { concurrency: 2 })
        for (const secret of reads) {
          const { password } = revealed(secret) as { readonly password: string }
          expect(password === password[0]!.repeat(size)).toBe(true)
        }
      }).pipe(Effect.provide(layer)))
  })
}

/** A secret's code is the one that an authenticator app shows for the seed. A change of period in between does no harm. */
const expectCode = <E>(get: Effect.Effect<Secret, E>, seed: string) =>
  Effect.gen(function* () {
    const before = yield* TotpCodeGenerator.generate(seed, 30)
    const secret = revealed(yield* get) as { readonly totp: { readonly totpCode: TotpCodeGenerator.PeriodInfo } }
    const after = yield* TotpCodeGenerator.generate(seed, 30)
    expect(secret.totp.totpCode).toMatchObject({ code: expect.toBeOneOf([before, after]) })
    expect(secret.totp.totpCode.remainingSeconds).toBeGreaterThan(0)
    expect(secret.totp.totpCode.remainingSeconds).toBeLessThanOrEqual(30)
    expect(DateTime.toEpochMillis(secret.totp.totpCode.validTillUtc) % 30_000).toBe(0)
  })

const totp = (base32Key: string) => ({
  ...samples.UsernamePasswordTotp,
  totp: { totpKey: { base32Key: Redacted.make(base32Key) } }
})

/** Secrets that no Schema lets through, as code without types may make them, with the fields at fault. */
const invalid = [
  [{}, ["type"]],
  [null, ["type"]],
  [{ ...samples.UsernamePassword, type: "Password" }, ["type"]],
  [{ type: "UsernamePassword" }, ["username", "password"]],
  [{ type: "UsernamePassword", username: "", password: Redacted.make("") }, ["username", "password"]],
  [{ type: "UsernamePassword", username: 1, password: Redacted.make(["canary"]) }, ["username", "password"]],
  [{ ...samples.UsernamePasswordApiKey, apiKey: undefined }, ["apiKey"]],
  [
    { type: "Certificate", certificate: Redacted.make("canary"), passphrase: Redacted.make("") },
    ["certificate", "passphrase"]
  ],
  [{ ...samples.UsernamePasswordTotp, totp: undefined }, ["totp"]],
  [{ ...samples.UsernamePasswordTotp, totp: {} }, ["totp.totpKey"]],
  [{ ...samples.UsernamePasswordTotp, totp: { totpKey: {} } }, ["totp.totpKey.base32Key"]],
  [totp(" "), ["totp.totpKey.base32Key"]],
  [totp("otpauth://totp/canary"), ["totp.totpKey.base32Key"]],
  [totp(`otpauth://hotp/canary?secret=${seed}`), ["totp.totpKey.base32Key"]],
  [totp(`otpauth://totp/canary?secret=${seed}&digits=8`), ["totp.totpKey.base32Key"]],
  [totp(`otpauth://totp/canary?secret=${seed}&algorithm=SHA256`), ["totp.totpKey.base32Key"]],
  [totp(`otpauth://totp/canary?secret=${seed}&period=60`), ["totp.totpKey.base32Key"]],
  [{ ...totp("canary-01"), username: "" }, ["username", "totp.totpKey.base32Key"]]
] as unknown as ReadonlyArray<readonly [SecretInput, ReadonlyArray<string>]>

/** A secret with its values in the clear. */
export const revealed = (secret: Secret | SecretInput): unknown => reveal(secret)

const reveal = (value: unknown): unknown => {
  if (Redacted.isRedacted(value)) return Redacted.value(value)
  if (typeof value !== "object" || value === null || DateTime.isDateTime(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, reveal(field)]))
}
