/**
 * A backend that keeps each secret in a file of its own, for those without a secret server:
 * `<root>/<bucket set>/<bucket>/<type>/<key>.json`. Without a key the values stand in the files in the clear, and only the
 * file permissions guard them: for development and tests.
 *
 * Several processes may use one root at the same time.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Result from "effect/Result"
import * as DurableFiles from "./DurableFiles.ts"
import { healthCheck } from "./FileBackendHealth.ts"
import { fromConfig } from "./FileBackendOptions.ts"
import * as FileEncryption from "./FileEncryption.ts"
import * as ProcessLock from "./ProcessLock.ts"
import type { SecretInput } from "./Secret.ts"
import { type Location, SecretBackend } from "./SecretBackend.ts"
import type { SecretStoreMisconfigured } from "./SecretServerOptions.ts"
import { SecretStoreConfig } from "./SecretStoreConfig.ts"
import { SecretBackendUnavailable, SecretCorrupt } from "./SecretStorageError.ts"
import * as StoredSecret from "./StoredSecret.ts"

/** Where the files are, and how long a one-time password lasts. */
export interface Options {
  /** The root directory; made when it is missing, with access for its owner only. */
  readonly path: string
  /** 30 when absent. */
  readonly totpPeriodInSeconds?: number
  /** How the files are encrypted; plain when absent. */
  readonly encryption?: FileEncryption.Options
}

/**
 * The backend over the files below a root. A root that cannot be used does not fail the start: it shows in the readiness
 * check and as `SecretBackendUnavailable` in each operation, until it is mended.
 */
export const make = Effect.fnUntraced(function* (options: Options) {
  const path = yield* Path.Path
  const root = path.resolve(options.path)
  const files = yield* DurableFiles.make(root)
  // Keeps an update from bringing back a secret that a delete removes at the same time.
  const lock = yield* ProcessLock.make(root)
  const encryption = options.encryption === undefined ? FileEncryption.none : FileEncryption.make(options.encryption)

  yield* encryption.keyId === undefined
    ? Effect.logWarning(`Secrets are kept as plain files in ${root}: for development and tests only`)
    : Effect.logInfo(`Secrets are kept as files in ${root}, encrypted with the key ${encryption.keyId}`)
  yield* Effect.andThen(files.makeRoot, files.sweep(directoryLevels)).pipe(
    Effect.catch((error) => Effect.logWarning(`The directory of the secrets cannot be used: ${error.message}`))
  )

  const locked = <A, E>(location: Location, effect: Effect.Effect<A, E>) => lock(placeOf(location), effect)

  const seal = (location: Location, secret: SecretInput) =>
    encryption.seal(placeOf(location), StoredSecret.encode(secret))

  return SecretBackend.of({
    name: "file",

    get: Effect.fnUntraced(function* (location) {
      const text = yield* files.read(fileOf(location)).pipe(unavailable("read a secret"))
      if (Option.isNone(text)) return Option.none()
      const opened = encryption.open(placeOf(location), text.value)
      if (Result.isFailure(opened)) {
        const file = path.join(root, ...fileOf(location))
        return yield* new SecretCorrupt({ id: location.id.id, reason: `the file ${file} ${opened.failure}` })
      }
      return Option.some(yield* StoredSecret.decode(location.id, opened.success, options.totpPeriodInSeconds ?? 30))
    }),

    create: (location, secret) =>
      files.create(fileOf(location), seal(location, secret)).pipe(
        // Keys are random, so this is a bug and no state of affairs.
        Effect.catchReason("PlatformError", "AlreadyExists", (exists) => Effect.die(exists)),
        unavailable("create a secret")
      ),

    update: (location, secret) =>
      locked(
        location,
        Effect.gen(function* () {
          const found = yield* files.exists(fileOf(location))
          if (found) yield* files.replace(fileOf(location), seal(location, secret))
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

/** The backend that the configuration describes; fails where its keys cannot be read. */
export const layerConfig: Layer.Layer<
  SecretBackend,
  SecretStoreMisconfigured,
  SecretStoreConfig | FileSystem.FileSystem | Path.Path
> = Layer.unwrap(Effect.map(SecretStoreConfig.use(fromConfig), layer))

const fileOf = ({ bucketSet, id }: Location): DurableFiles.Segments => [bucketSet, id.bucket, id.type, `${id.key}.json`]

const placeOf = (location: Location): string => FileEncryption.placeOf(fileOf(location))

/** The directories of {@link fileOf}. */
const directoryLevels = 3

const unavailable = (operation: string) =>
  Effect.mapError((error: PlatformError) => new SecretBackendUnavailable({ operation, reason: error.message }))
