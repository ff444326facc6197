/** The contract of a backend, seen through the storage: every backend runs the same cases. */
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as BucketSet from "../../src/SecretStore/BucketSet.ts"
import type { Secret, SecretInput } from "../../src/SecretStore/Secret.ts"
import { SecretBackend } from "../../src/SecretStore/SecretBackend.ts"
import type { SecretDocument } from "../../src/SecretStore/SecretDocument.ts"
import * as SecretId from "../../src/SecretStore/SecretId.ts"
import * as SecretStorage from "../../src/SecretStore/SecretStorage.ts"
import * as SecretType from "../../src/SecretStore/SecretType.ts"
import * as TotpCodeGenerator from "../../src/SecretStore/TotpCodeGenerator.ts"
import { isSecret, recordingEye } from "./support/RecordingEye.ts"
import { Credentials, CredentialStorage, login as plainLogin, samples, seed } from "./support/Credentials.ts"

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
  const runner = clock === "test" ? it.effect : it.live
  const test = (name: string, body: () => Effect.Effect<void, unknown, Scope.Scope>) =>
    runner(name, () => watched(body()))
  const layer = Layer.mergeAll(CredentialStorage.layer, OtherStorage.layer).pipe(Layer.provideMerge(backend))

  describe(`SecretStorage over ${name}`, () => {
    for (const type of ["UsernamePassword", "UsernamePasswordApiKey", "Certificate"] as const) {
      test(`creates, reads, updates and deletes a ${type}`, () =>
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
        }).pipe(Effect.provide(layer)))
    }

    test("a one-time password is written with its seed and read with its code", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", samples.UsernamePasswordTotp)
        yield* expectCode(storage.get(id), seed)
        yield* storage.update(id, totp("JBSWY3DPEHPK3PXP"))
        yield* expectCode(storage.get(id), "JBSWY3DPEHPK3PXP")
      }).pipe(Effect.provide(layer)))

    if (clock === "test") {
      test("code and expiry belong to the same period", () =>
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
        }).pipe(Effect.provide(layer)))
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
        expect(yield* (yield* SecretBackend).create(location(id), login("2"))).toBe(false)
        expect(revealed(yield* storage.get(id))).toEqual(revealed(login("1")))
        // Not even one that says the same and differs in its seed.
        const withSeed = yield* storage.create("ApiKeys", samples.UsernamePasswordTotp)
        expect(yield* (yield* SecretBackend).create(location(withSeed), totp("JBSWY3DPEHPK3PXP"))).toBe(false)
        yield* expectCode(storage.get(withSeed), seed)
      }).pipe(Effect.provide(layer)))

    test("lists the ids of a bucket, and of no other", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const listed = (bucket: "ApiKeys" | "ServiceAccounts") =>
          Effect.map(Stream.runCollect(storage.list(bucket)), (ids) => ids.map(({ id }) => id).toSorted())
        const before = yield* listed("ApiKeys")
        const made = yield* Effect.forEach(SecretType.all, (type) => storage.create("ApiKeys", samples[type]))
        const other = yield* storage.create("ServiceAccounts", login("1"))
        const set = yield* (yield* OtherStorage).create("ApiKeys", login("1"))
        const after = yield* listed("ApiKeys")
        expect(after).toEqual([...before, ...made.map(({ id }) => id)].toSorted())
        expect(after).not.toContain(set.id)
        expect(yield* listed("ServiceAccounts")).toContain(other.id)
        yield* storage.delete(made[0]!)
        expect(yield* listed("ApiKeys")).toEqual(after.filter((id) => id !== made[0]!.id))
        for (const id of yield* Stream.runCollect(storage.list("ApiKeys"))) yield* storage.get(id)
      }).pipe(Effect.provide(layer)))

    test("a bucket without secrets has no ids, and an unknown one is invalid", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        expect(yield* Stream.runCollect(storage.list("DatabaseCredentials"))).toEqual([])
        for (const bucket of ["Nope", "__proto__", "../ApiKeys"]) {
          const error = yield* Effect.flip(Stream.runCollect(storage.list(bucket as "ApiKeys")))
          expect(error).toMatchObject({ _tag: "SecretInvalid", issues: [{ field: "bucket" }] })
        }
      }).pipe(Effect.provide(layer)))

    test("tells whether there is a secret", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        for (const type of SecretType.all) {
          expect(yield* storage.exists(yield* SecretId.generate(Credentials, "ApiKeys", type))).toBe(false)
          const id = yield* storage.create("ApiKeys", samples[type])
          expect(yield* storage.exists(id)).toBe(true)
          yield* storage.delete(id)
          expect(yield* storage.exists(id)).toBe(false)
        }
      }).pipe(Effect.provide(layer)))

    test("tells the version of a secret, and when it was made and updated", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", login("1"))
        const made = yield* storage.metadata(id)
        expect(made).toEqual({ version: 1, created: made.updated, updated: made.updated })
        if (clock === "test") yield* TestClock.adjust("1 minute")
        yield* storage.update(id, login("2"))
        const updated = yield* storage.metadata(id)
        expect(updated).toEqual({ version: 2, created: made.created, updated: updated.updated })
        expect(DateTime.isGreaterThan(updated.updated, made.updated)).toBe(true)
        yield* storage.delete(id)
        expect(yield* Effect.flip(storage.metadata(id))).toMatchObject({ _tag: "SecretNotFound", id: id.id })
      }).pipe(Effect.provide(layer)))

    for (const type of ["UsernamePassword", "UsernamePasswordTotp"] as const) {
      test(`updates a ${type} only where the expected version stands`, () =>
        Effect.gen(function* () {
          const storage = yield* CredentialStorage
          const id = yield* storage.create("ApiKeys", samples[type])
          const named = (username: string) => ({ ...samples[type], username })
          expect(yield* storage.update(id, named("one"), { expectedVersion: 1 })).toEqual(id)
          for (const expectedVersion of [1, 0, -1, 3, 1.5, Number.NaN]) {
            expect(yield* Effect.flip(storage.update(id, named("two"), { expectedVersion }))).toMatchObject({
              _tag: "SecretVersionConflict",
              id: id.id,
              expected: expectedVersion,
              found: 2
            })
          }
          expect(revealed(yield* storage.get(id))).toMatchObject({ username: "one" })
          yield* storage.update(id, named("three"), { expectedVersion: undefined })
          expect((yield* storage.metadata(id)).version).toBe(3)
          yield* storage.delete(id)
          const gone = yield* Effect.flip(storage.update(id, named("four"), { expectedVersion: 3 }))
          expect(gone._tag).toBe("SecretNotFound")
        }).pipe(Effect.provide(layer)))
    }

    test("of writers that expect the same version, one is done", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", login("0"))
        const writes = Array.from({ length: 8 }, (_, i) =>
          storage.update(id, login(String(i + 1)), { expectedVersion: 1 }).pipe(
            Effect.as(i + 1),
            Effect.catchTag("SecretVersionConflict", ({ found }) => Effect.succeed(-found))
          )
        )
        const outcomes = yield* Effect.all(writes, { concurrency: "unbounded" })
        const done = outcomes.filter((outcome) => outcome > 0)
        expect(done).toHaveLength(1)
        expect(outcomes.filter((outcome) => outcome === -2)).toHaveLength(7)
        expect(revealed(yield* storage.get(id))).toEqual(revealed(login(String(done[0]))))
        expect((yield* storage.metadata(id)).version).toBe(2)
      }).pipe(Effect.provide(layer)))

    test("restores any version that the history tells of, as the newest one", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", login("1"))
        yield* storage.update(id, login("2"))
        yield* storage.update(id, login("3"))
        const history = yield* storage.history(id)
        expect(history.map(({ version }) => version)).toEqual([3, 2, 1])
        const { created, updated } = yield* storage.metadata(id)
        expect([history[2]!.created, history[0]!.created]).toEqual([created, updated])

        expect(yield* storage.restore(id, 1)).toEqual(id)
        expect(revealed(yield* storage.get(id))).toEqual(revealed(login("1")))
        yield* storage.restore(id, 2)
        expect(revealed(yield* storage.get(id))).toEqual(revealed(login("2")))
        expect((yield* storage.history(id)).map(({ version }) => version)).toEqual([5, 4, 3, 2, 1])
        for (const version of [6, 0, -1, 1.5, Number.NaN]) {
          const error = yield* Effect.flip(storage.restore(id, version))
          expect(error).toMatchObject({ _tag: "SecretVersionNotFound", id: id.id, version })
        }
        expect((yield* storage.metadata(id)).version).toBe(5)

        yield* storage.delete(id)
        expect((yield* Effect.flip(storage.history(id)))._tag).toBe("SecretNotFound")
        expect((yield* Effect.flip(storage.restore(id, 1)))._tag).toBe("SecretNotFound")
      }).pipe(Effect.provide(layer)))

    test("keeps ten versions", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", login("1"))
        for (let version = 2; version <= 12; version++) yield* storage.update(id, login(String(version)))
        expect((yield* storage.history(id)).map(({ version }) => version)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
        expect((yield* Effect.flip(storage.restore(id, 2)))._tag).toBe("SecretVersionNotFound")
        yield* storage.restore(id, 3)
        expect(revealed(yield* storage.get(id))).toEqual(revealed(login("3")))
      }).pipe(Effect.provide(layer)))

    test("a restored one-time password keeps the seed that stands", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", samples.UsernamePasswordTotp)
        yield* storage.update(id, { ...totp("JBSWY3DPEHPK3PXP"), username: "grace" })
        yield* storage.restore(id, 1)
        expect(revealed(yield* storage.get(id))).toMatchObject({ username: "ada" })
        yield* expectCode(storage.get(id), "JBSWY3DPEHPK3PXP")
      }).pipe(Effect.provide(layer)))

    test("gives a secret with all that can be read back, to move it, and takes it under its id", () =>
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const backend = yield* SecretBackend
        for (const type of SecretType.all) {
          const id = yield* storage.create("ApiKeys", samples[type])
          const whole = Option.getOrThrow(yield* backend.getWithSeed(location(id)))
          const { totp, ...rest } = { totp: undefined, ...(revealed(whole) as object) }
          const { totp: given, ...expected } = { totp: undefined, ...(revealed(samples[type]) as object) }
          expect(rest).toEqual(expected)
          // The seeds in the engine of a server cannot be had back.
          expect([given, undefined]).toContainEqual(totp)
          yield* storage.delete(id)
          expect(yield* backend.getWithSeed(location(id))).toEqual(Option.none())
          expect(yield* backend.create(location(id), samples[type])).toBe(true)
          expect((yield* storage.metadata(id)).version).toBe(1)
        }
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
          const whole = "canary-".length + size
          expect(password === "canary-".padEnd(whole, password.at(-1))).toBe(true)
        }
      }).pipe(Effect.provide(layer)))
  })
}

/** Runs a case, and looks for its secrets in every log, span, metric, error of an operation, and the process's title. */
const watched = <E, R>(body: Effect.Effect<void, E, R>): Effect.Effect<void, E, R> =>
  Effect.suspend(() => {
    const { layer, look, lookAtSpans, seen, spans } = recordingEye()
    const registry: typeof Metric.MetricRegistry.Service = new Map()
    return Effect.gen(function* () {
      yield* body
      look(yield* Metric.snapshot)
      look([process.title, process.argv, process.execArgv])
      lookAtSpans()
      expect(spans.length).toBeGreaterThan(0)
      expect(seen.length).toBeGreaterThan(6)
      expect(seen.filter((text) => isSecret(text) || text.includes("JBSWY3DPEHPK3PXP"))).toEqual([])
    }).pipe(Effect.provide(layer), Effect.provideContext(Context.make(Metric.MetricRegistry, registry)))
  })

const login = (password: string) => plainLogin(`canary-${password}`)

const location = (id: SecretId.SecretId) => ({ bucketSet: Credentials.name, id })

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
export const revealed = (secret: Secret | SecretInput | SecretDocument): unknown => reveal(secret)

const reveal = (value: unknown): unknown => {
  if (Redacted.isRedacted(value)) return Redacted.value(value)
  if (typeof value !== "object" || value === null || DateTime.isDateTime(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, reveal(field)]))
}
