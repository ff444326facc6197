/**
 * A backend on a secret server (Vault, OpenBao): the fields of a secret in the key-value engine, below
 * `<bucket set>/<bucket>/<id>`, and the seed of a one-time password in the TOTP engine, under the id.
 *
 * The server knows no transaction over two engines, and a seed that is written over cannot be had back. So the key-value
 * engine comes first, where versions decide between several writers, and what it took is taken back when the seed fails.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as HealthCheck from "../Plugins/HealthCheck.ts"
import * as KeyedLock from "./KeyedLock.ts"
import type { Document, KeyValueEngine } from "./KeyValueEngine.ts"
import type { SecretInput } from "./Secret.ts"
import { type Location, SecretBackend } from "./SecretBackend.ts"
import * as SecretDocument from "./SecretDocument.ts"
import * as SecretId from "./SecretId.ts"
import * as SecretServerCleanUp from "./SecretServerCleanUp.ts"
import {
  type BackendError,
  SecretBackendUnavailable,
  SecretCorrupt,
  SecretVersionConflict,
  SecretVersionNotFound
} from "./SecretStorageError.ts"
import type { TotpEngine } from "./TotpEngine.ts"

/** The engines of one server. */
export interface Engines {
  readonly documents: KeyValueEngine
  readonly seeds: TotpEngine
  readonly healthChecks: ReadonlyArray<HealthCheck.HealthCheck>
}

/** How often an update begins again because another process wrote in between. */
const maxTries = 10

/** The backend over the engines. */
export const make = Effect.fnUntraced(function* ({
  documents,
  healthChecks,
  seeds
}: Engines): Effect.fn.Return<SecretBackend["Service"], never, Scope.Scope> {
  // Writers of other processes meet the version. Those of this one need not come that far, and a seed has no version.
  const lock = yield* KeyedLock.make
  const cleanUp = yield* SecretServerCleanUp.make(lock)

  const get: SecretBackend["Service"]["get"] = Effect.fnUntraced(function* (location) {
    const read = documents.read("read a secret", pathOf(location))
    const document = yield* read
    if (Option.isNone(document)) return Option.none()
    const secret = yield* SecretDocument.decode(location.id, document.value.data)
    if (secret.type !== "UsernamePasswordTotp") return Option.some(secret)
    const totpCode = yield* seeds.code("read a one-time password", location.id.id)
    if (Option.isSome(totpCode)) return Option.some({ ...secret, totp: { totpCode: totpCode.value } })
    // Deleted since the document was read, perhaps.
    if (Option.isNone(yield* read)) return Option.none()
    return yield* new SecretCorrupt({ id: location.id.id, reason: "the TOTP engine has no seed for it" })
  })

  const putSeed = (operation: string, location: Location, secret: SecretInput) =>
    secret.type === "UsernamePasswordTotp"
      ? seeds.put(operation, location.id.id, {
          base32Key: secret.totp.totpKey.base32Key,
          accountName: secret.username
        })
      : Effect.void

  const create: SecretBackend["Service"]["create"] = (location, secret) => {
    const operation = "create a secret"
    const path = pathOf(location)
    const data = SecretDocument.encode(secret)
    const isMine = (document: Document) => document.version === 1 && Equal.equals(document.data, data)

    let isUntouched = false
    const write = Effect.gen(function* () {
      const written = yield* documents
        .write(operation, path, data, 0)
        .pipe(Effect.tapError((error) => Effect.sync(() => void (isUntouched = isUndone(error)))))
      if (Option.isNone(written)) return false
      yield* putSeed(operation, location, secret)
      return true
    })

    const takeBack = Effect.gen(function* () {
      if (!Option.exists(yield* documents.read(operation, path), isMine)) return
      yield* documents.remove(operation, path)
      if (secret.type === "UsernamePasswordTotp") yield* seeds.remove(operation, location.id.id)
    })

    return Effect.onError(write, () => (isUntouched ? Effect.void : cleanUp(location.id, takeBack)))
  }

  /**
   * One try to update: `late` where another process wrote since the document was read, and `mixed` where one wrote after
   * this, and this one's seed came after that.
   */
  const tryUpdate = (
    location: Location,
    secret: SecretInput,
    expectedVersion: number | undefined
  ): Effect.Effect<boolean | "late" | "mixed", BackendError | SecretVersionConflict> =>
    Effect.gen(function* () {
      const operation = "update a secret"
      const path = pathOf(location)
      const data = SecretDocument.encode(secret)
      const read = documents.read(operation, path)
      const before = yield* read
      if (Option.isNone(before)) return false
      const { version } = before.value
      if (expectedVersion !== undefined && expectedVersion !== version) {
        return yield* new SecretVersionConflict({ id: location.id.id, expected: expectedVersion, found: version })
      }
      const isMine = (document: Document) => document.version === version + 1 && Equal.equals(document.data, data)

      const write = Effect.gen(function* () {
        const written = yield* documents.write(operation, path, data, version)
        if (Option.isNone(written)) return "late"
        yield* putSeed(operation, location, secret)
        return true
      })
      if (secret.type !== "UsernamePasswordTotp") return yield* write

      const removeSeed = seeds.remove(operation, location.id.id)
      const { base32Key } = secret.totp.totpKey

      /** Whether the new secret stands after a failure; else the old one does. */
      const settle = Effect.gen(function* () {
        const now = yield* read
        if (Option.isNone(now)) yield* removeSeed
        if (!Option.exists(now, isMine)) return false
        if (yield* seeds.holds(operation, location.id.id, base32Key)) return true
        yield* documents.write(operation, path, before.value.data, version + 1)
        return false
      })

      return yield* Effect.uninterruptibleMask((restore) =>
        Effect.gen(function* () {
          const exit = yield* Effect.exit(restore(write))
          if (Exit.isFailure(exit)) return (yield* cleanUp(location.id, settle)) === true ? true : yield* exit
          if (exit.value !== true) return exit.value
          // Both engines took it. Whether another process came between them is all that is left to ask.
          const now = yield* Effect.option(read)
          if (Option.isNone(now)) return true
          // The secret was deleted, and this one's seed came after that.
          if (Option.isNone(now.value)) return yield* Effect.as(removeSeed, false)
          if (isMine(now.value.value)) return true
          // This update was done, and another one after it, whose seed may have come before this one's.
          const isMixed = yield* Effect.option(seeds.holds(operation, location.id.id, base32Key))
          return Option.contains(isMixed, true) ? "mixed" : true
        })
      )
    })

  const update: SecretBackend["Service"]["update"] = (location, secret, expectedVersion) =>
    lock(
      location.id.id,
      Effect.gen(function* () {
        let expected = expectedVersion
        for (let tries = 0; tries < maxTries; tries++) {
          const updated = yield* tryUpdate(location, secret, expected)
          if (typeof updated === "boolean") return updated
          // What was expected was there. Whole again is all that matters now.
          if (updated === "mixed") expected = undefined
        }
        return yield* outrun("update a secret")
      })
    )

  const restore: SecretBackend["Service"]["restore"] = (location, version) =>
    lock(
      location.id.id,
      Effect.gen(function* () {
        const operation = "restore a secret"
        const path = pathOf(location)
        const { id } = location.id
        for (let tries = 0; tries < maxTries; tries++) {
          const now = yield* documents.read(operation, path)
          if (Option.isNone(now)) return false
          // The server takes 0 for the newest one, and refuses what is no whole number.
          const isVersion = Number.isSafeInteger(version) && version >= 1
          const earlier = isVersion ? yield* documents.read(operation, path, version) : Option.none()
          if (Option.isNone(earlier)) return yield* new SecretVersionNotFound({ id, version })
          const { data } = earlier.value
          yield* SecretDocument.decode(location.id, data)
          if (Option.isSome(yield* documents.write(operation, path, data, now.value.version))) return true
        }
        return yield* outrun(operation)
      })
    )

  const remove: SecretBackend["Service"]["delete"] = (location) =>
    lock(
      location.id.id,
      Effect.gen(function* () {
        const operation = "delete a secret"
        const path = pathOf(location)
        if (location.id.type !== "UsernamePasswordTotp") return yield* documents.remove(operation, path)
        const read = documents.read(operation, path)
        const removeSeed = seeds.remove(operation, location.id.id)
        const before = yield* read
        // Hidden before the seed goes: its versions stay, and it can be had back, for as long as the seed stands.
        const all = Effect.gen(function* () {
          if (Option.isSome(before)) yield* documents.hide(operation, path)
          yield* removeSeed
          yield* documents.remove(operation, path)
          // An update of another process may have come between, and only now can none any more.
          yield* removeSeed
        })

        /** A secret whose seed is still there stands, as a version after those that it had; without it, the rest goes too. */
        const settle = Effect.gen(function* () {
          if (Option.isNone(before)) return
          const { data, version } = before.value
          if (Option.isNone(yield* seeds.code(operation, location.id.id)))
            return yield* documents.remove(operation, path)
          if (Option.isSome(yield* read)) return
          yield* documents.write(operation, path, data, version)
          if (Option.isNone(yield* read)) yield* removeSeed
        })

        yield* Effect.onError(all, () => cleanUp(location.id, settle))
      })
    )

  const metadata = (operation: string, location: Location) => documents.metadata(operation, pathOf(location))

  return SecretBackend.of({
    name: "server",
    totpPeriodInSeconds: seeds.periodInSeconds,
    get,
    getWithSeed: Effect.fnUntraced(function* (location) {
      const document = yield* documents.read("read a secret", pathOf(location))
      return yield* Effect.transposeOption(Option.map(document, ({ data }) => SecretDocument.decode(location.id, data)))
    }),
    exists: (location) => Effect.map(metadata("look for a secret", location), Option.isSome),
    metadata: (location) =>
      Effect.map(
        metadata("read a secret's metadata", location),
        Option.map(({ created, version, versions }) => ({ version, created, updated: versions[0].created }))
      ),
    history: (location) =>
      Effect.map(
        metadata("read a secret's history", location),
        Option.map(({ versions }) => versions)
      ),
    list: (buckets, bucket, after) =>
      Effect.map(documents.list("list secrets", `${buckets.name}/${bucket}`, after), ({ names, next }) => ({
        ids: names
          .flatMap((name) => Option.toArray(SecretId.parse(buckets, name)))
          .filter((id) => id.bucket === bucket),
        next
      })),
    create,
    update,
    restore,
    delete: remove,
    healthChecks
  })
})

const pathOf = ({ bucketSet, id }: Location): string => `${bucketSet}/${id.bucket}/${id.id}`

const outrun = (operation: string) =>
  new SecretBackendUnavailable({ operation, reason: `other writers were faster ${maxTries} times` })

const isUndone = (error: BackendError): boolean => error._tag === "SecretAccessDenied" || error.mayBeDone === false
