/**
 * Secret storage: a service per bucket set that creates, reads, updates and deletes secrets, whatever backend keeps them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
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
  SecretTypeMismatch
} from "./SecretStorageError.ts"

/** The operations on the secrets of one bucket set. */
export interface SecretStorage<Bucket extends string> {
  /** Reads a secret. One with a one-time password comes with the code of the current period. */
  readonly get: (id: SecretId.SecretId<Bucket>) => Effect.Effect<Secret, SecretNotFound | SecretCorrupt | BackendError>
  /** Stores a new secret under a new id. */
  readonly create: (
    bucket: Bucket,
    secret: SecretInput
  ) => Effect.Effect<SecretId.SecretId<Bucket>, SecretInvalid | BackendError>
  /** Replaces a secret by another of the same type. The id stays the same. */
  readonly update: (
    id: SecretId.SecretId<Bucket>,
    secret: SecretInput
  ) => Effect.Effect<SecretId.SecretId<Bucket>, SecretNotFound | SecretInvalid | SecretTypeMismatch | BackendError>
  /** Removes a secret. Removing one that is not there succeeds. */
  readonly delete: (id: SecretId.SecretId<Bucket>) => Effect.Effect<void, BackendError>
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

  const get = Effect.fn("SecretStorage.get")(function* (id: Id) {
    yield* annotate(id)
    const secret = yield* backend.get(location(id))
    return yield* Effect.fromOption(secret, () => new SecretNotFound({ id: id.id }))
  })

  const create = Effect.fn("SecretStorage.create")(function* (bucket: Bucket, secret: SecretInput) {
    if (!BucketSet.has(buckets, bucket)) {
      const message = `Expected one of ${BucketSet.names(buckets).join(", ")}`
      return yield* new SecretInvalid({ issues: [{ field: "bucket", message }] })
    }
    yield* Effect.annotateCurrentSpan({ "secret.bucket": bucket })
    const valid = yield* validate(secret)
    const id = yield* SecretId.generate(buckets, bucket, valid.type)
    yield* annotate(id)
    yield* backend.create(location(id), valid)
    return id
  })

  const update = Effect.fn("SecretStorage.update")(function* (id: Id, secret: SecretInput) {
    yield* annotate(id)
    const valid = yield* validate(secret)
    if (valid.type !== id.type) {
      return yield* new SecretTypeMismatch({ id: id.id, expected: id.type, actual: valid.type })
    }
    const found = yield* backend.update(location(id), valid)
    if (!found) return yield* new SecretNotFound({ id: id.id })
    return id
  })

  const remove = Effect.fn("SecretStorage.delete")(function* (id: Id) {
    yield* annotate(id)
    yield* backend.delete(location(id))
  })

  // Every operation is measured here, by its name and by the type of the secrets that it concerns.
  const measured = SecretMetrics.make(backend.name)
  const storage: SecretStorage<Bucket> = {
    get: (id) => measured("get", id, get(id)),
    create: (bucket, secret) => measured("create", secret, create(bucket, secret)),
    update: (id, secret) => measured("update", id, update(id, secret)),
    delete: (id) => measured("delete", id, remove(id))
  }
  return storage
})

const annotate = (id: SecretId.SecretId) =>
  Effect.annotateCurrentSpan({ "secret.bucket": id.bucket, "secret.key": id.key, "secret.type": id.type })
