/**
 * Secret storage: a service per bucket set that creates, reads, updates and deletes secrets, whatever backend keeps them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as BucketSet from "./BucketSet.ts"
import type { Secret, SecretInput } from "./Secret.ts"
import { SecretBackend } from "./SecretBackend.ts"
import * as SecretId from "./SecretId.ts"
import { validate } from "./SecretInputValidation.ts"
import * as SecretMetrics from "./SecretMetrics.ts"
import {
  type BackendError,
  type SecretCorrupt,
  SecretInvalid,
  SecretNotFound,
  SecretTypeMismatch,
  type SecretStorageError,
  type SecretVersionConflict,
  type SecretVersionNotFound
} from "./SecretStorageError.ts"
import type { SecretMetadata, SecretVersion } from "./SecretVersion.ts"
import { annotate, traced } from "./Traced.ts"

/** The operations on the secrets of one bucket set. */
export interface SecretStorage<Bucket extends string> {
  /** Reads a secret. One with a one-time password comes with the code of the current period. */
  readonly get: (id: SecretId.SecretId<Bucket>) => Effect.Effect<Secret, SecretNotFound | SecretCorrupt | BackendError>
  /** Stores a new secret under a new id. */
  readonly create: (
    bucket: Bucket,
    secret: SecretInput
  ) => Effect.Effect<SecretId.SecretId<Bucket>, SecretInvalid | BackendError>
  /**
   * Replaces a secret by another of the same type. The id stays the same. `SecretCorrupt` where what is stored cannot even be
   * kept as an earlier version: mend it, or delete it.
   */
  readonly update: {
    (id: SecretId.SecretId<Bucket>, secret: SecretInput): Effect.Effect<SecretId.SecretId<Bucket>, UpdateError>
    /**
     * With `expectedVersion`, only where that version stands: of several that read a secret and write it back, one is done,
     * and the others hear of it.
     */
    (
      id: SecretId.SecretId<Bucket>,
      secret: SecretInput,
      options: UpdateOptions
    ): Effect.Effect<SecretId.SecretId<Bucket>, UpdateError | SecretVersionConflict>
  }
  /** Removes a secret. Removing one that is not there succeeds. */
  readonly delete: (id: SecretId.SecretId<Bucket>) => Effect.Effect<void, BackendError>
  /** The ids in a bucket, read page by page, in no order. One that is made or deleted meanwhile may be among them or not. */
  readonly list: (bucket: Bucket) => Stream.Stream<SecretId.SecretId<Bucket>, SecretInvalid | BackendError>
  /** Whether there is a secret. Its values are not read. */
  readonly exists: (id: SecretId.SecretId<Bucket>) => Effect.Effect<boolean, BackendError>
  /** The version of a secret, and when it was written. */
  readonly metadata: (
    id: SecretId.SecretId<Bucket>
  ) => Effect.Effect<SecretMetadata, SecretNotFound | SecretCorrupt | BackendError>
  /** The versions of a secret that can be restored, the newest first: the one that stands. */
  readonly history: (
    id: SecretId.SecretId<Bucket>
  ) => Effect.Effect<ReadonlyArray<SecretVersion>, SecretNotFound | SecretCorrupt | BackendError>
  /**
   * Writes an earlier version of a secret again, as the newest one. Of a one-time password all but the seed: seeds have no
   * versions, and the one that stands stays.
   */
  readonly restore: (
    id: SecretId.SecretId<Bucket>,
    version: number
  ) => Effect.Effect<SecretId.SecretId<Bucket>, SecretNotFound | SecretVersionNotFound | SecretCorrupt | BackendError>
}

/** How an update can fail. */
export type UpdateError = SecretNotFound | SecretInvalid | SecretTypeMismatch | SecretCorrupt | BackendError

/** What an update may rest on. */
export interface UpdateOptions {
  /** The version that must stand for the update to be done, as `metadata` tells it; any, where it is `undefined`. */
  readonly expectedVersion: number | undefined
}

/** The class that {@link Service} returns: a service key with its bucket set and its layer. */
export interface SecretStorageClass<Self, Key extends string, Bucket extends string> extends Context.ServiceClass<
  Self,
  Key,
  SecretStorage<Bucket>
> {
  readonly buckets: BucketSet.BucketSet<Bucket>
  /** The storage over whichever backend is provided. */
  readonly layer: Layer.Layer<Self, never, SecretBackend>
}

/**
 * Declares the storage of a bucket set as a service.
 *
 * @example
 * ```ts
 * class CredentialStorage extends SecretStorage.Service<CredentialStorage>()("app/CredentialStorage", Credentials) {}
 * ```
 */
export const Service =
  <Self>() =>
  <const Key extends string, Bucket extends string>(
    key: Key,
    buckets: BucketSet.BucketSet<Bucket>
  ): SecretStorageClass<Self, Key, Bucket> => {
    const service = Context.Service<Self, SecretStorage<Bucket>>()(key)
    return Object.assign(service, { buckets, layer: Layer.effect(service, make(buckets)) })
  }

/** The storage of a bucket set over the provided backend. */
export const make = Effect.fnUntraced(function* <Bucket extends string>(buckets: BucketSet.BucketSet<Bucket>) {
  const backend = yield* SecretBackend
  type Id = SecretId.SecretId<Bucket>
  const location = (id: Id) => ({ bucketSet: buckets.name, id })

  const known = (bucket: Bucket) => {
    if (BucketSet.has(buckets, bucket)) return Effect.void
    const message = `Expected one of ${BucketSet.names(buckets).join(", ")}`
    return new SecretInvalid({ issues: [{ field: "bucket", message }] })
  }
  const found =
    (id: Id) =>
    <A>(secret: Option.Option<A>) =>
      Option.isSome(secret) ? Effect.succeed(secret.value) : Effect.fail(new SecretNotFound({ id: id.id }))

  const create = Effect.fnUntraced(function* (bucket: Bucket, secret: SecretInput) {
    yield* known(bucket)
    const valid = yield* validate(secret, backend.totpPeriodInSeconds)
    const id = yield* SecretId.generate(buckets, bucket, valid.type)
    yield* annotate(attributesOf(id))
    // Keys are random, so one that is in use is a bug and no state of affairs.
    if (!(yield* backend.create(location(id), valid))) {
      return yield* Effect.die(new Error(`The secret ${id.id} exists already`))
    }
    return id
  })

  const replace = Effect.fnUntraced(function* (id: Id, secret: SecretInput, expectedVersion: number | undefined) {
    const valid = yield* validate(secret, backend.totpPeriodInSeconds)
    if (valid.type !== id.type) {
      return yield* new SecretTypeMismatch({ id: id.id, expected: id.type, actual: valid.type })
    }
    const isFound = yield* backend.update(location(id), valid, expectedVersion)
    if (!isFound) return yield* new SecretNotFound({ id: id.id })
    return id
  })

  const page = Effect.fnUntraced(function* (bucket: Bucket, after: Option.Option<string>) {
    yield* known(bucket)
    return yield* backend.list(buckets, bucket, after)
  })

  const restore = Effect.fnUntraced(function* (id: Id, version: number) {
    yield* annotate({ "secret.version": version })
    const isFound = yield* backend.restore(location(id), version)
    if (!isFound) return yield* new SecretNotFound({ id: id.id })
    return id
  })

  const measured = SecretMetrics.make(backend.name)

  /** Every operation comes through here: it is a span, and is measured by its name and the type of what it concerns. */
  const run = <A, E extends SecretStorageError>(
    operation: string,
    subject: SecretMetrics.Subject | undefined,
    attributes: Record<string, unknown>,
    effect: Effect.Effect<A, E>
  ) => measured(operation, subject, traced(`SecretStorage.${operation}`, { attributes }, effect))

  const runOn = <A, E extends SecretStorageError>(operation: string, id: Id, evaluate: () => Effect.Effect<A, E>) =>
    run(operation, id, attributesOf(id), Effect.suspend(evaluate))

  function update(id: Id, secret: SecretInput): Effect.Effect<Id, UpdateError>
  function update(
    id: Id,
    secret: SecretInput,
    options: UpdateOptions
  ): Effect.Effect<Id, UpdateError | SecretVersionConflict>
  function update(id: Id, secret: SecretInput, options?: UpdateOptions) {
    return runOn("update", id, () => replace(id, secret, options?.expectedVersion))
  }
  const storage: SecretStorage<Bucket> = {
    get: (id) => runOn("get", id, () => Effect.flatMap(backend.get(location(id)), found(id))),
    create: (bucket, secret) => run("create", secret, { "secret.bucket": bucket }, create(bucket, secret)),
    update,
    delete: (id) => runOn("delete", id, () => backend.delete(location(id))),
    list: (bucket) =>
      Stream.paginate(Option.none<string>(), (after) =>
        Effect.map(run("list", undefined, { "secret.bucket": bucket }, page(bucket, after)), ({ ids, next }) => [
          ids,
          Option.map(next, Option.some)
        ])
      ),
    exists: (id) => runOn("exists", id, () => backend.exists(location(id))),
    metadata: (id) => runOn("metadata", id, () => Effect.flatMap(backend.metadata(location(id)), found(id))),
    history: (id) => runOn("history", id, () => Effect.flatMap(backend.history(location(id)), found(id))),
    restore: (id, version) => runOn("restore", id, () => restore(id, version))
  }
  return storage
})

const attributesOf = (id: SecretId.SecretId) => ({
  "secret.bucket": id.bucket,
  "secret.key": id.key,
  "secret.type": id.type
})
