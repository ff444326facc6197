/** `layerhost secrets migrate`: between which backends, and what is told of it. */
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { FileSystem } from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as nodePath from "node:path"
import * as MemoryBackend from "../../SecretStore/MemoryBackend.ts"
import { SecretBackend } from "../../SecretStore/SecretBackend.ts"
import * as SecretMigration from "../../SecretStore/SecretMigration.ts"
import type { SecretStoreConfig } from "../../SecretStore/SecretStoreConfig.ts"
import * as Input from "./Input.ts"
import * as Output from "./Output.ts"
import * as Progress from "./Progress.ts"
import type { Options } from "./run.ts"
import { exitCodes, fromStorage, SecretsCommandError, Told, usage } from "./SecretsCommandError.ts"
import * as Store from "./Store.ts"

type Config = SecretStoreConfig["Service"]

/** Copies all secrets of the service from one backend to another. */
export const migrate = Effect.fnUntraced(function* (
  options: Options & {
    readonly from: string
    readonly to: string
    readonly dryRun: boolean
    readonly acceptPlainFiles: boolean
    readonly seeds: boolean
  }
) {
  yield* Store.operands(options.operands, [])
  const { stdinIsTerminal } = yield* Stdio.Stdio
  const isTerminal = yield* stdinIsTerminal
  const typed = { from: endOf(options.from), to: endOf(options.to) }
  const { bucketSets, config } = yield* Store.open(options)
  const source = yield* configOf(yield* typed.from, config)
  const target = yield* configOf(yield* typed.to, config)
  if (placeOf(source) === placeOf(target))
    return yield* usage(`--from and --to are the same: ${placeOf(source)}; choose another for one of them`)
  if (!(yield* isThere(source))) {
    return yield* usage(
      `There is no directory ${nodePath.resolve(source.localFileSystemPath)} to move secrets from; name it with --from files:<directory>`
    )
  }
  const seeds = new Map(options.seeds && !isTerminal ? yield* readSeeds : [])

  const outcomes = yield* Effect.gen(function* () {
    const from = yield* backend({ ...source, acceptPlainFiles: source.acceptPlainFiles || options.acceptPlainFiles })
    const { dryRun } = options
    // A dry run does not even make the directory: without one, nothing is there.
    const to = dryRun && !(yield* isThere(target)) ? yield* empty : yield* backend(target)
    const migration = { from, to, dryRun, seeds }
    const all = yield* SecretMigration.locations(from, bucketSets)
    const moveAll = Effect.fnUntraced(function* (locations: typeof all) {
      const progress = yield* Progress.make("secrets")
      return yield* Effect.forEach(
        locations,
        (location) => Effect.tap(SecretMigration.move(location, migration), () => progress.step(locations.length)),
        { concurrency: 8 }
      ).pipe(Effect.ensuring(progress.end))
    })

    const first = yield* moveAll(all)
    const waiting = first.filter(({ result }) => result === "needsSeed")
    if (!options.seeds || !isTerminal || dryRun || waiting.length === 0) return first
    for (const { location } of waiting) {
      const seed = yield* Input.hidden(`New seed of ${location.id.id} in ${location.id.bucket} (empty to pass over)`)
      if (seed !== "") seeds.set(location.id.id, Redacted.make(seed))
    }
    const rest = yield* moveAll(waiting.map(({ location }) => location))
    return [...first.filter(({ result }) => result !== "needsSeed"), ...rest]
  }).pipe(
    Effect.scoped,
    Effect.catchTags({
      SecretAccessDenied: (error) => stopped(error),
      SecretBackendUnavailable: (error) => stopped(error)
    })
  )
  yield* tell(outcomes, options)
})

const backend = (config: Config) => Effect.map(Layer.build(Store.backend(config)), Context.get(SecretBackend))

const empty = Effect.map(Layer.build(MemoryBackend.layer()), Context.get(SecretBackend))

const stopped = (error: Parameters<typeof fromStorage>[0]) => {
  const { exitCode, message, tag } = fromStorage(error)
  return new SecretsCommandError({ message: `${message}. Run the command again to go on`, tag, exitCode })
}

/** Where secrets come from or go to, in the words of the command. */
type End = { readonly kind: "files" | "server" } | { readonly kind: "directory" | "config"; readonly path: string }

const endOf = (text: string) => {
  const [, kind, path] = /^(files|config):(.+)$/s.exec(text) ?? []
  if (kind !== undefined && path !== undefined) {
    // Before the working directory becomes the service's.
    const end: End = { kind: kind === "files" ? "directory" : "config", path: nodePath.resolve(path) }
    return Effect.succeed(end)
  }
  if (text === "files" || text === "server") return Effect.succeed<End>({ kind: text })
  return Effect.fail(
    usage(
      `"${text}" is no place of secrets; expected files, files:<directory>, server, or config:<directory> for the section` +
        " secretstore of other appsettings files"
    )
  )
}

const configOf = (end: End, config: Config) => {
  switch (end.kind) {
    case "files":
      return Effect.succeed<Config>({ ...config, useLocalFileSystem: true })
    case "directory":
      return Effect.succeed<Config>({ ...config, useLocalFileSystem: true, localFileSystemPath: end.path })
    case "server":
      return Effect.succeed<Config>({ ...config, useLocalFileSystem: false })
    case "config":
      return Store.configOf(end.path)
  }
}

/** What makes one place another one. */
const placeOf = (config: Config): string =>
  config.useLocalFileSystem
    ? nodePath.resolve(config.localFileSystemPath)
    : `${config.url} ${config.namespace} ${config.keyValueMount} ${config.totpMount}`.replaceAll(/ +/g, " ")

/** Whether there is a directory, where there has to be one: a backend makes its own. */
const isThere = Effect.fnUntraced(function* (config: Config) {
  const fs = yield* FileSystem
  return !config.useLocalFileSystem || (yield* Effect.orElseSucceed(fs.exists(config.localFileSystemPath), () => false))
})

const decodeSeeds = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Record(Schema.String, Schema.RedactedFromValue(Schema.String)))
)

const readSeeds = Effect.flatMap(Effect.suspend(Input.readText), (text) =>
  Effect.mapBoth(decodeSeeds(text), {
    onSuccess: (seeds) => Object.entries(seeds),
    onFailure: () => usage("Expected a JSON object of ids and their seeds on standard input, since --seeds is given")
  })
)

const tell = Effect.fnUntraced(function* (
  outcomes: ReadonlyArray<SecretMigration.Outcome>,
  { dryRun, json }: { readonly dryRun: boolean; readonly json: boolean }
) {
  const of = (result: SecretMigration.Outcome["result"]) =>
    outcomes
      .filter((outcome) => outcome.result === result)
      .map(({ location, reason }) => ({ id: location.id.id, reason }))
  const ids = (result: SecretMigration.Outcome["result"]) => of(result).map(({ id }) => id)
  const [moved, present, conflicts, needSeed] = [ids("moved"), ids("present"), ids("conflict"), ids("needsSeed")]
  const failed = of("failed")
  if (json) {
    yield* Output.json({ dryRun, moved: moved.length, present: present.length, conflicts, needSeed, failed })
  } else {
    yield* Console.log(`${moved.length} ${dryRun ? "to be moved" : "moved"}, ${present.length} there already`)
    yield* tellIds("another secret is there under the id; nothing was changed", conflicts)
    yield* tellIds("the source gives no seed back: each needs a new one (--seeds)", needSeed)
    for (const { id, reason } of failed) yield* Console.error(`${id}: ${reason}`)
  }
  if (conflicts.length + needSeed.length + failed.length > 0) return yield* new Told({ exitCode: exitCodes.failed })
})

const tellIds = (what: string, ids: ReadonlyArray<string>): Effect.Effect<void> =>
  ids.length === 0
    ? Effect.void
    : Console.error(`${ids.length} not moved, since ${what}:\n${ids.map((id) => `  ${id}`).join("\n")}`)
