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
import type { Secret, SecretInput } from "./Secret.ts"
import type { SecretId } from "./SecretId.ts"
import type { BackendError, SecretCorrupt, SecretInvalid } from "./SecretStorageError.ts"

/** Where a secret is kept: its id, and the name of the bucket set that the id belongs to. */
export interface Location {
  readonly bucketSet: string
  readonly id: SecretId
}

/** Keeps the secrets of all bucket sets. */
export class SecretBackend extends Context.Service<
  SecretBackend,
  {
    /** What metrics call the backend, for example `file`. */
    readonly name: string
    /** The secret, with the current code where it has a seed; `None` only when the backend is sure that there is none. */
    readonly get: (location: Location) => Effect.Effect<Option.Option<Secret>, BackendError | SecretCorrupt>
    /** Writes a secret that is not there yet; never overwrites one. A failed create leaves nothing behind. */
    readonly create: (location: Location, secret: SecretInput) => Effect.Effect<void, BackendError | SecretInvalid>
    /** Replaces a secret, and says whether there was one to replace. Writes nothing where there is none. */
    readonly update: (location: Location, secret: SecretInput) => Effect.Effect<boolean, BackendError | SecretInvalid>
    /** Removes a secret; that there is none is no failure. */
    readonly delete: (location: Location) => Effect.Effect<void, BackendError>
    /** Tell whether secrets can be kept at present. */
    readonly healthChecks: ReadonlyArray<HealthCheck.HealthCheck>
  }
>()("layerhost/SecretStore/SecretBackend") {}
