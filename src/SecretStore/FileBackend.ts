/**
 * A backend that keeps each secret in a file of its own, for those without a secret server:
 * `<root>/<bucket set>/<bucket>/<type>/<key>.json`. Without a key the values stand in the files in the clear, and only the
 * file permissions guard them: for development and tests.
 *
 * Several processes may use one root at the same time.
 */
import * as DateTime from "effect/DateTime"
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
import { type Location, SecretBackend } from "./SecretBackend.ts"
import * as SecretId from "./SecretId.ts"
import type { SecretStoreMisconfigured } from "./SecretServerOptions.ts"
import { SecretAccessDenied, SecretBackendUnavailable, SecretCorrupt } from "./SecretStorageError.ts"
import { SecretStoreConfig } from "./SecretStoreConfig.ts"
import * as SecretType from "./SecretType.ts"
import * as TextBackend from "./TextBackend.ts"

/** Where the files are, how long a one-time password lasts, and how many versions are kept. */
export interface Options extends TextBackend.Options {
  /** The root directory; made when it is missing, with access for its owner only. */
  readonly path: string
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
  const lock = yield* ProcessLock.make(root)
  const encryption = options.encryption === undefined ? FileEncryption.none : FileEncryption.make(options.encryption)

  yield* encryption.keyId === undefined
    ? Effect.logWarning(`Secrets are kept as plain files in ${root}: for development and tests only`)
    : Effect.logInfo(`Secrets are kept as files in ${root}, encrypted with the key ${encryption.keyId}`)
  yield* Effect.andThen(files.makeRoot, files.sweep(directoryLevels)).pipe(
    Effect.catch((error) =>
      Effect.logWarning(`The directory of the secrets cannot be used: ${DurableFiles.reasonOf(error)}`)
    )
  )

  const texts: TextBackend.Texts = {
    read: (operation, location) =>
      Effect.matchEffect(files.read(fileOf(location)), {
        onFailure: unavailableBy(operation),
        onSuccess: (content): Effect.Effect<Option.Option<string>, SecretCorrupt | SecretAccessDenied> => {
          if (Option.isNone(content)) return Effect.succeedNone
          const opened = encryption.open(placeOf(location), content.value)
          if (Result.isSuccess(opened)) return Effect.succeedSome(opened.success)
          const reason = `the file ${path.join(root, ...fileOf(location))} ${opened.failure.reason}`
          return opened.failure.kind === "broken"
            ? Effect.fail(new SecretCorrupt({ id: location.id.id, reason }))
            : Effect.fail(new SecretAccessDenied({ operation, reason }))
        }
      }),

    exists: (operation, location) => unavailable(operation, files.exists(fileOf(location))),

    modified: (operation, location) =>
      Effect.map(unavailable(operation, files.modified(fileOf(location))), DateTime.fromDateUnsafe),

    // A page for each type, which has a directory of its own.
    list: Effect.fnUntraced(function* (operation, buckets, bucket, after) {
      const type = SecretType.all.find((type) => Option.contains(after, type)) ?? SecretType.all[0]
      const names = yield* unavailable(operation, files.names([buckets.name, bucket, type]))
      const ids = names.flatMap((name) => {
        const key = name.endsWith(".json") ? name.slice(0, -".json".length) : ""
        return Option.toArray(SecretId.fromKey(buckets, bucket, type, key))
      })
      return { ids, next: Option.fromUndefinedOr(SecretType.all[SecretType.all.indexOf(type) + 1]) }
    }),

    create: (operation, location, text) =>
      files.create(fileOf(location), encryption.seal(placeOf(location), text)).pipe(
        Effect.as(true),
        Effect.catchReason("PlatformError", "AlreadyExists", () => Effect.succeed(false)),
        (create) => unavailable(operation, create)
      ),

    replace: (operation, location, text) =>
      unavailable(operation, files.replace(fileOf(location), encryption.seal(placeOf(location), text))),

    remove: (operation, location) => unavailable(operation, files.remove(fileOf(location))),

    locked: (operation, location, effect) =>
      Effect.flatten(unavailable(operation, lock(placeOf(location), Effect.exit(effect))))
  }

  return TextBackend.make("file", texts, options, [yield* healthCheck(options.path)])
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

/** What {@link FileEncryption.placeOf} makes of {@link fileOf}. */
const placeOf = ({ bucketSet, id }: Location): string => `${bucketSet}/${id.bucket}/${id.type}/${id.key}`

/** The directories of {@link fileOf}. */
const directoryLevels = 3

const unavailableBy =
  (operation: string) =>
  (error: PlatformError): Effect.Effect<never, SecretBackendUnavailable> =>
    Effect.fail(new SecretBackendUnavailable({ operation, reason: DurableFiles.reasonOf(error) }))

const unavailable = <A>(
  operation: string,
  effect: Effect.Effect<A, PlatformError>
): Effect.Effect<A, SecretBackendUnavailable> => effect.pipe(Effect.catch(unavailableBy(operation)))
