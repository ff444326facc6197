/**
 * A backend over a place that keeps one text per secret, such as a directory of files.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as HealthCheck from "../Plugins/HealthCheck.ts"
import type { BucketSet } from "./BucketSet.ts"
import type { SecretInput } from "./Secret.ts"
import type { Location, Page, SecretBackend } from "./SecretBackend.ts"
import {
  type BackendError,
  type SecretCorrupt,
  SecretVersionConflict,
  SecretVersionNotFound
} from "./SecretStorageError.ts"
import * as StoredSecret from "./StoredSecret.ts"

/** The texts of a place. `operation` says in messages what the caller is about: "read a secret". */
export interface Texts {
  readonly read: (
    operation: string,
    location: Location
  ) => Effect.Effect<Option.Option<string>, BackendError | SecretCorrupt>
  readonly exists: (operation: string, location: Location) => Effect.Effect<boolean, BackendError>
  /** When a text that is there was written. */
  readonly modified: (operation: string, location: Location) => Effect.Effect<DateTime.Utc, BackendError>
  readonly list: <Bucket extends string>(
    operation: string,
    buckets: BucketSet<Bucket>,
    bucket: Bucket,
    after: Option.Option<string>
  ) => Effect.Effect<Page<Bucket>, BackendError>
  /** Writes a text where there is none, and says whether it did. */
  readonly create: (operation: string, location: Location, text: string) => Effect.Effect<boolean, BackendError>
  /** Puts a text in the place of another. */
  readonly replace: (operation: string, location: Location, text: string) => Effect.Effect<void, BackendError>
  readonly remove: (operation: string, location: Location) => Effect.Effect<void, BackendError>
  /** Runs an effect that changes a text while no other one does. */
  readonly locked: <A, E>(
    operation: string,
    location: Location,
    effect: Effect.Effect<A, E>
  ) => Effect.Effect<A, E | BackendError>
}

/** How a backend makes one-time passwords and keeps versions. */
export interface Options {
  /** How long a one-time password is valid; 30 when absent. */
  readonly totpPeriodInSeconds?: number
  /** How many versions of a secret are kept, the one that stands among them; 10 when absent. */
  readonly versionsKept?: number
}

/** The backend over the texts. */
export const make = (
  name: string,
  texts: Texts,
  { totpPeriodInSeconds = 30, versionsKept = 10 }: Options,
  healthChecks: ReadonlyArray<HealthCheck.HealthCheck>
): SecretBackend["Service"] => {
  /** What becomes of the secret in a text, if there is one. */
  const decoded = <A>(location: Location, then: (secret: SecretInput) => Effect.Effect<A>) =>
    Effect.flatMap(texts.read("read a secret", location), (text): Effect.Effect<Option.Option<A>, SecretCorrupt> => {
      if (Option.isNone(text)) return Effect.succeedNone
      const secret = StoredSecret.decode(location.id, text.value, totpPeriodInSeconds)
      return Result.isSuccess(secret) ? Effect.mapEager(then(secret.success), Option.some) : Effect.fail(secret.failure)
    })

  /** What a text says, and its metadata. One that was written by hand has none. */
  const open = Effect.fnUntraced(function* (operation: string, location: Location) {
    const read = yield* texts.read(operation, location)
    if (Option.isNone(read)) return Option.none()
    const json = yield* Effect.fromResult(StoredSecret.parseObject(location.id, read.value))
    const known = yield* Effect.fromResult(StoredSecret.metadataOf(location.id, json))
    const metadata = Option.isSome(known)
      ? known.value
      : StoredSecret.firstAt(yield* texts.modified(operation, location))
    return Option.some({ json, metadata })
  })

  return {
    name,
    totpPeriodInSeconds,

    get: (location) => decoded(location, (secret) => StoredSecret.withCode(secret, totpPeriodInSeconds)),

    getWithSeed: (location) => decoded(location, Effect.succeed),

    exists: (location) => texts.exists("look for a secret", location),

    metadata: (location) =>
      Effect.map(
        open("read a secret's metadata", location),
        Option.map(({ metadata: { created, updated, version } }) => ({ version, created, updated }))
      ),

    history: (location) =>
      Effect.map(
        open("read a secret's history", location),
        Option.map(({ metadata: { earlier, updated, version } }) => [
          { version, created: updated },
          ...earlier.map(({ created, version }) => ({ version, created }))
        ])
      ),

    list: (buckets, bucket, after) => texts.list("list secrets", buckets, bucket, after),

    create: Effect.fnUntraced(function* (location, secret) {
      const metadata = StoredSecret.firstAt(yield* DateTime.now)
      return yield* texts.create("create a secret", location, StoredSecret.encode(secret, metadata))
    }),

    update: (location, secret, expectedVersion) => {
      const operation = "update a secret"
      const replace = Effect.gen(function* () {
        const before = yield* open(operation, location)
        if (Option.isNone(before)) return false
        const { json, metadata } = before.value
        const { version } = metadata
        if (expectedVersion !== undefined && expectedVersion !== version) {
          return yield* new SecretVersionConflict({ id: location.id.id, expected: expectedVersion, found: version })
        }
        const next = StoredSecret.next(json, metadata, yield* DateTime.now, versionsKept)
        yield* texts.replace(operation, location, StoredSecret.encode(secret, next))
        return true
      })
      return texts.locked(operation, location, replace)
    },

    restore: (location, version) => {
      const operation = "restore a secret"
      const replace = Effect.gen(function* () {
        const before = yield* open(operation, location)
        if (Option.isNone(before)) return false
        const { json, metadata } = before.value
        const secret = yield* StoredSecret.atVersion(location.id, json, metadata, version, totpPeriodInSeconds)
        if (Option.isNone(secret)) return yield* new SecretVersionNotFound({ id: location.id.id, version })
        const next = StoredSecret.next(json, metadata, yield* DateTime.now, versionsKept)
        yield* texts.replace(operation, location, StoredSecret.encode(secret.value, next))
        return true
      })
      return texts.locked(operation, location, replace)
    },

    delete: (location) => {
      const operation = "delete a secret"
      return texts.locked(operation, location, texts.remove(operation, location))
    },

    healthChecks
  }
}
