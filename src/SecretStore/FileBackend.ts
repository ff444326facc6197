/**
 * A backend that keeps each secret in a plain JSON file, for development and tests without a secret server:
 * `<root>/<bucket set>/<bucket>/<type>/<key>.json`. The values stand in the files in the clear; only the file
 * permissions guard them.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as DurableFiles from "./DurableFiles.ts"
import { healthCheck } from "./FileBackendHealth.ts"
import * as KeyedLock from "./KeyedLock.ts"
import { type Location, SecretBackend } from "./SecretBackend.ts"
import { SecretBackendUnavailable } from "./SecretStorageError.ts"
import * as StoredSecret from "./StoredSecret.ts"

/** Where the files are, and how long a one-time password lasts. */
export interface Options {
  /** The root directory; made when it is missing, with access for its owner only. */
  readonly path: string
  /** 30 when absent. */
  readonly totpPeriodInSeconds?: number
}

/**
 * The backend over the files below a root. A root that cannot be used does not fail the start: it shows in the readiness
 * check and as `SecretBackendUnavailable` in each operation, until it is mended.
 */
export const make = Effect.fnUntraced(function* (options: Options) {
  const root = (yield* Path.Path).resolve(options.path)
  const files = yield* DurableFiles.make(root)
  // Keeps an update from bringing back a secret that a delete in this process removes at the same time.
  const lock = yield* KeyedLock.make

  yield* Effect.logWarning(`Secrets are kept as plain files in ${root}: for development and tests only`)
  yield* Effect.andThen(files.makeRoot, files.sweep(directoryLevels)).pipe(
    Effect.catch((error) => Effect.logWarning(`The directory of the secrets cannot be used: ${error.message}`))
  )

  const locked = <A, E>(location: Location, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    lock(fileOf(location).join("/"), effect)

  return SecretBackend.of({
    name: "file",

    get: Effect.fnUntraced(function* (location) {
      const text = yield* files.read(fileOf(location)).pipe(unavailable("read a secret"))
      if (Option.isNone(text)) return Option.none()
      return Option.some(yield* StoredSecret.decode(location.id, text.value, options.totpPeriodInSeconds ?? 30))
    }),

    create: (location, secret) =>
      files.create(fileOf(location), StoredSecret.encode(secret)).pipe(
        // Keys are random, so this is a bug and no state of affairs.
        Effect.catchReason("PlatformError", "AlreadyExists", (exists) => Effect.die(exists)),
        unavailable("create a secret")
      ),

    update: (location, secret) =>
      locked(
        location,
        Effect.gen(function* () {
          const found = yield* files.exists(fileOf(location))
          if (found) yield* files.replace(fileOf(location), StoredSecret.encode(secret))
          return found
        })
      ).pipe(unavailable("update a secret")),

    delete: (location) => locked(location, files.remove(fileOf(location))).pipe(unavailable("delete a secret")),

    healthChecks: [yield* healthCheck(options.path)]
  })
})

/** {@link make} as a layer. */
export const layer = (options: Options): Layer.Layer<SecretBackend, never, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(SecretBackend, make(options))

const fileOf = ({ bucketSet, id }: Location): DurableFiles.Segments => [bucketSet, id.bucket, id.type, `${id.key}.json`]

/** The directories of {@link fileOf}. */
const directoryLevels = 3

const unavailable = (operation: string) =>
  Effect.mapError((error: PlatformError) => new SecretBackendUnavailable({ operation, reason: error.message }))
