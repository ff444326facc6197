/**
 * The secret store of a service, while the service itself does not run: its bucket sets, its section, its backend.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import * as Result from "effect/Result"
import type * as Stdio from "effect/Stdio"
import * as nodePath from "node:path"
import * as Configuration from "../../Host/Configuration/Configuration.ts"
import type { ConfigurationError } from "../../Host/Configuration/ConfigurationError.ts"
import { decode, type Decoded, type OwnedSection } from "../../Host/Configuration/Decode.ts"
import * as BucketSet from "../../SecretStore/BucketSet.ts"
import type { SecretBackend } from "../../SecretStore/SecretBackend.ts"
import * as SecretId from "../../SecretStore/SecretId.ts"
import { SecretStoreConfig } from "../../SecretStore/SecretStoreConfig.ts"
import * as SecretStorePlugin from "../../SecretStore/SecretStorePlugin.ts"
import * as Service from "../config/Service.ts"
import { exitCodes, refuseValues, SecretsCommandError, usage } from "./SecretsCommandError.ts"

/** What every command is told of the service. */
export interface StoreOptions {
  /** The service's directory. */
  readonly service: string
  /** The module that exports the plugins, where it is not the generated list. */
  readonly plugins: string | undefined
  /** The bucket set, where the service has several. */
  readonly set: string | undefined
}

/** The service's bucket sets, and its configuration. */
export interface Store {
  readonly bucketSets: ReadonlyArray<BucketSet.BucketSet>
  readonly config: SecretStoreConfig["Service"]
}

/**
 * Imports the plugins of the service, which starts nothing, and reads its configuration. From here on the working directory is
 * the service's, so that relative paths mean what they mean to it.
 */
export const open = Effect.fnUntraced(function* (options: StoreOptions) {
  const directory = nodePath.resolve(options.service)
  const sections = yield* Service.sections(directory, options.plugins)
  if (!sections.some(({ section }) => section.path === SecretStoreConfig.path)) {
    return yield* usage(
      "The service has no plugin layerhost/secret-store, which says where secrets are kept: add it to the service's plugins"
    )
  }
  const made = BucketSet.made()
  if (made.length === 0) {
    return yield* usage(
      "The plugins of the service make no bucket set to keep secrets in: make one with BucketSet.make"
    )
  }
  const bucketSets = options.set === undefined ? made : made.filter(({ name }) => name === options.set)
  if (bucketSets.length === 0) {
    return yield* usage(`There is no bucket set "${options.set}"; expected one of ${nameList(made)}`)
  }
  const { args } = yield* Service.split([])
  const { decoded } = yield* Service.configuration(directory, args, [section])
  const config = yield* configIn(decoded)
  process.chdir(directory)
  return { bucketSets, config } satisfies Store
})

/** Nothing else of the configuration has to be right. */
const section: OwnedSection = { section: SecretStoreConfig, owner: "layerhost/secret-store" }

const configIn = (decoded: Result.Result<Decoded, ConfigurationError>) =>
  Effect.fromResult(
    Result.mapBoth(decoded, {
      onSuccess: ({ services }) => Context.get(services as Context.Context<SecretStoreConfig>, SecretStoreConfig),
      onFailure: ({ message }) =>
        new SecretsCommandError({ message, tag: "ConfigurationError", exitCode: exitCodes.failed })
    })
  )

/** The section of another directory's files. Variables and arguments are the service's, and have no say there. */
export const configOf = Effect.fnUntraced(function* (directory: string) {
  const tree = yield* Configuration.load({ directory })
  return yield* configIn(yield* Effect.result(decode(tree, [section])))
})

/** The backend that a section describes. Its log is the service's affair: here, errors say what there is to say. */
export const backend = (
  config: SecretStoreConfig["Service"]
): Layer.Layer<SecretBackend, SecretsCommandError, FileSystem.FileSystem | Path.Path> =>
  SecretStorePlugin.backend.pipe(
    Layer.provide([Layer.succeed(SecretStoreConfig, config), Logger.layer([])]),
    Layer.catchTag("SecretStoreMisconfigured", ({ _tag, message }) =>
      Layer.effectContext(Effect.fail(new SecretsCommandError({ message, tag: _tag, exitCode: exitCodes.failed })))
    )
  )

/** A bucket, and the set that it belongs to. */
export const findBucket = (
  { bucketSets }: Pick<Store, "bucketSets">,
  name: string
): Effect.Effect<{ readonly buckets: BucketSet.BucketSet; readonly bucket: string }, SecretsCommandError> => {
  const found = bucketSets.flatMap((buckets) =>
    BucketSet.names(buckets)
      .filter((bucket) => bucket.toLowerCase() === name.toLowerCase())
      .map((bucket) => ({ buckets, bucket }))
  )
  if (found.length === 1) return Effect.succeed(found[0]!)
  const several = `The bucket "${name}" is in several sets: choose one of ${nameList(found.map(({ buckets }) => buckets))} with --set`
  const none = `There is no bucket "${name}"; expected one of ${[...new Set(bucketSets.flatMap(BucketSet.names))].join(", ")}`
  return Effect.fail(usage(found.length > 1 ? several : none))
}

/** An id, and the set that it belongs to. */
export const findId = (
  { bucketSets }: Pick<Store, "bucketSets">,
  text: string
): Effect.Effect<{ readonly buckets: BucketSet.BucketSet; readonly id: SecretId.SecretId }, SecretsCommandError> => {
  const found = bucketSets.flatMap((buckets) =>
    Option.toArray(Option.map(SecretId.parse(buckets, text), (id) => ({ buckets, id })))
  )
  if (found.length === 1) return Effect.succeed(found[0]!)
  const several = `The id fits several bucket sets: choose one of ${nameList(found.map(({ buckets }) => buckets))} with --set`
  // What stands in the place of an id may be a value, so it is not repeated.
  return Effect.fail(
    usage(
      found.length > 1
        ? several
        : `That is no id of a secret in ${nameList(bucketSets)}; \`layerhost secrets list\` prints the ids`
    )
  )
}

/** The arguments without a name: those that are expected have to be there, and more than `most` may be values of a secret. */
export const operands = Effect.fnUntraced(function* (
  given: ReadonlyArray<string>,
  expected: ReadonlyArray<string>,
  most: number = expected.length
): Effect.fn.Return<ReadonlyArray<string>, SecretsCommandError, Stdio.Stdio> {
  const { own } = yield* Service.split(given)
  yield* refuseValues(own.slice(most))
  const missing = expected[own.length]
  return missing === undefined ? own : yield* usage(`Expected ${missing} as an argument; --help tells more`)
})

const nameList = (sets: ReadonlyArray<BucketSet.BucketSet>): string => sets.map(({ name }) => name).join(", ")
