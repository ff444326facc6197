/**
 * The seam between the storage service and the places where secrets are kept.
 *
 * A backend gets secrets that are valid and of the id's type, and says in domain terms what it found; it decides itself how
 * to lay them out. So one may keep a whole secret in a file, and another the seed in an engine that computes the codes and
 * the rest somewhere else, and users of a storage never know which.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as HealthCheck from "../Plugins/HealthCheck.ts"
import type { BucketSet } from "./BucketSet.ts"
import type { Secret, SecretInput } from "./Secret.ts"
import type { SecretDocument } from "./SecretDocument.ts"
import type { SecretId } from "./SecretId.ts"
import type {
  BackendError,
  SecretCorrupt,
  SecretInvalid,
  SecretVersionConflict,
  SecretVersionNotFound
} from "./SecretStorageError.ts"
import type { SecretMetadata, SecretVersion } from "./SecretVersion.ts"

/** Where a secret is kept: its id, and the name of the bucket set that the id belongs to. */
export interface Location {
  readonly bucketSet: string
  readonly id: SecretId
}

/** Some of the ids in a bucket. */
export interface Page<Bucket extends string> {
  readonly ids: ReadonlyArray<SecretId<Bucket>>
  /** What the next page comes after; `None` where this is the last one. */
  readonly next: Option.Option<string>
}

/** Keeps the secrets of all bucket sets. */
export class SecretBackend extends Context.Service<
  SecretBackend,
  {
    /** What metrics call the backend, for example `file`. */
    readonly name: string
    /** How long its one-time passwords last, which an `otpauth://` URI has to agree with. */
    readonly totpPeriodInSeconds: number
    /** The secret, with the current code where it has a seed; `None` only when the backend is sure that there is none. */
    readonly get: (location: Location) => Effect.Effect<Option.Option<Secret>, BackendError | SecretCorrupt>
    /**
     * The secret as it was written, with its seed: for moving it to another backend. A one-time password that comes
     * without `totp` is one whose seed the backend does not give back.
     */
    readonly getWithSeed: (
      location: Location
    ) => Effect.Effect<Option.Option<SecretInput | SecretDocument>, BackendError | SecretCorrupt>
    readonly exists: (location: Location) => Effect.Effect<boolean, BackendError>
    readonly metadata: (
      location: Location
    ) => Effect.Effect<Option.Option<SecretMetadata>, BackendError | SecretCorrupt>
    /** The versions that can be restored, the newest first; `None` where there is no secret. */
    readonly history: (
      location: Location
    ) => Effect.Effect<Option.Option<ReadonlyArray<SecretVersion>>, BackendError | SecretCorrupt>
    /**
     * A page of the ids in a bucket, the first one where `after` is absent, in no order that callers may rely on. One that
     * is made or deleted meanwhile may be on a page or not; any other is, once. What is no secret of the set's is passed
     * over.
     */
    readonly list: <Bucket extends string>(
      buckets: BucketSet<Bucket>,
      bucket: Bucket,
      after: Option.Option<string>
    ) => Effect.Effect<Page<Bucket>, BackendError>
    /**
     * Writes a secret that is not there yet, and says whether it did: where there is one, `false`, and nothing is written.
     * A failed create leaves nothing behind.
     */
    readonly create: (location: Location, secret: SecretInput) => Effect.Effect<boolean, BackendError | SecretInvalid>
    /**
     * Replaces a secret, and says whether there was one to replace. Writes nothing where there is none, nor where
     * `expectedVersion` is given and another one stands, nor over what cannot be kept as an earlier version: `SecretCorrupt`.
     */
    readonly update: (
      location: Location,
      secret: SecretInput,
      expectedVersion?: number
    ) => Effect.Effect<boolean, BackendError | SecretInvalid | SecretCorrupt | SecretVersionConflict>
    /**
     * Writes an earlier version again, as the newest one, and says whether there was a secret. Seeds have no versions: the
     * one that stands stays.
     */
    readonly restore: (
      location: Location,
      version: number
    ) => Effect.Effect<boolean, BackendError | SecretCorrupt | SecretVersionNotFound>
    /** Removes a secret with all its versions; that there is none is no failure. */
    readonly delete: (location: Location) => Effect.Effect<void, BackendError>
    /** Tell whether secrets can be kept at present. */
    readonly healthChecks: ReadonlyArray<HealthCheck.HealthCheck>
  }
>()("layerhost/SecretStore/SecretBackend") {}
