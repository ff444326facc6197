/** What `layerhost secrets` does. Loaded only when it is asked for. */
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Prompt from "effect/cli/Prompt"
import * as BucketSet from "../../SecretStore/BucketSet.ts"
import * as FileBackendOptions from "../../SecretStore/FileBackendOptions.ts"
import * as FileReencryption from "../../SecretStore/FileReencryption.ts"
import type { SecretId } from "../../SecretStore/SecretId.ts"
import * as SecretStorage from "../../SecretStore/SecretStorage.ts"
import type { SecretStorageError } from "../../SecretStore/SecretStorageError.ts"
import type { SecretType } from "../../SecretStore/SecretType.ts"
import { CommandError } from "../CommandError.ts"
import * as Table from "../config/Table.ts"
import * as Input from "./Input.ts"
import * as Output from "./Output.ts"
import * as Progress from "./Progress.ts"
import { exitCodes, fromStorage, SecretsCommandError, Told, usage } from "./SecretsCommandError.ts"
import * as Store from "./Store.ts"

/** What every command is told. */
export interface Options extends Store.StoreOptions {
  readonly operands: ReadonlyArray<string>
  readonly json: boolean
}

/** With `--json`, errors are JSON too, on standard error. */
export const answering =
  ({ json }: { readonly json: boolean }) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Told, R> =>
    json ? effect.pipe(Effect.catch(tellAsJson)) : effect

const tellAsJson = <E>(error: E): Effect.Effect<never, E | Told> => {
  if (error instanceof Told) return Effect.fail(error)
  if (!(error instanceof SecretsCommandError || error instanceof CommandError)) return Effect.fail(error)
  const told =
    error instanceof SecretsCommandError
      ? { tag: error.tag, exitCode: error.exitCode }
      : { tag: "Usage", exitCode: exitCodes.failed }
  return Effect.andThen(
    Console.error(JSON.stringify({ error: { tag: told.tag, message: error.message } })),
    new Told({ exitCode: told.exitCode })
  )
}

/** How an operation of a command can fail before that is put into words. */
type OperationError = SecretStorageError | SecretsCommandError

/** Runs with the storage of a set, over the service's backend. */
const withStorage = <A, R>(
  { config }: Store.Store,
  buckets: BucketSet.BucketSet,
  use: (storage: SecretStorage.SecretStorage<string>) => Effect.Effect<A, OperationError, R>
) =>
  SecretStorage.make(buckets).pipe(
    Effect.flatMap(use),
    Effect.mapError((error) => (error instanceof SecretsCommandError ? error : fromStorage(error))),
    Effect.provide(Store.backend(config))
  )

/** Runs with an id's own storage. */
const withId = Effect.fnUntraced(function* <A, R>(
  options: Options,
  expected: ReadonlyArray<string>,
  use: (
    storage: SecretStorage.SecretStorage<string>,
    id: SecretId,
    more: ReadonlyArray<string>
  ) => Effect.Effect<A, OperationError, R>
) {
  const [text = "", ...more] = yield* Store.operands(options.operands, ["the id of a secret", ...expected])
  const store = yield* Store.open(options)
  const { buckets, id } = yield* Store.findId(store, text)
  return yield* withStorage(store, buckets, (storage) => use(storage, id, more))
})

/** Stores a new secret and prints its id. */
export const create = Effect.fnUntraced(function* (options: Options & { readonly type: SecretType | undefined }) {
  const [name = ""] = yield* Store.operands(options.operands, ["the name of a bucket"])
  const store = yield* Store.open(options)
  const { bucket, buckets } = yield* Store.findBucket(store, name)
  const secret = yield* Input.read(options.type)
  if (options.type !== undefined && secret.type !== options.type) {
    return yield* usage(`The secret is a ${secret.type}, and --type says ${options.type}: correct one of them`)
  }
  const { id } = yield* withStorage(store, buckets, (storage) => storage.create(bucket, secret))
  yield* options.json ? Output.json({ id }) : Console.log(id)
})

/** Prints a secret. */
export const get = (options: Options & { readonly field: string | undefined; readonly reveal: boolean }) =>
  withId(options, [], (storage, id) => Effect.flatMap(storage.get(id), (secret) => Output.secret(secret, options)))

/** Replaces a secret by another of its type. */
export const update = (options: Options & { readonly expectedVersion: number | undefined }) =>
  withId(options, [], (storage, id) =>
    Effect.gen(function* () {
      const secret = yield* Input.read(id.type)
      yield* storage.update(id, secret, { expectedVersion: options.expectedVersion })
      if (options.json) yield* Output.json({ id: id.id, updated: true })
    })
  )

/** Removes a secret with all its versions; on a terminal, asks first. */
export const remove = (options: Options & { readonly yes: boolean }) =>
  withId(options, [], (storage, id) =>
    Effect.gen(function* () {
      const { stdinIsTerminal } = yield* Stdio.Stdio
      if (!options.yes && (yield* stdinIsTerminal)) {
        const message = `Delete the ${id.type} ${id.id} in ${id.bucket}, with all its versions?`
        if (!(yield* Input.prompt(Prompt.Confirm({ message, initial: false })))) {
          return yield* new SecretsCommandError({
            message: "Nothing was deleted",
            tag: "Quit",
            exitCode: exitCodes.failed
          })
        }
      }
      yield* storage.delete(id)
      if (options.json) yield* Output.json({ id: id.id, deleted: true })
    })
  )

/** Prints the ids in a bucket, or in all buckets. */
export const list = Effect.fnUntraced(function* (options: Options) {
  const [name] = yield* Store.operands(options.operands, [], 1)
  const store = yield* Store.open(options)
  const chosen =
    name === undefined
      ? store.bucketSets.flatMap((buckets) => BucketSet.names(buckets).map((bucket) => ({ buckets, bucket })))
      : [yield* Store.findBucket(store, name)]
  const ids = yield* Effect.forEach(chosen, ({ bucket, buckets }) =>
    withStorage(store, buckets, (storage) => Stream.runCollect(storage.list(bucket)))
  )
  const secrets = ids.flat().map(({ bucket, id, type }) => ({ id, bucket, type }))
  if (options.json) return yield* Output.json(secrets)
  if (secrets.length > 0) yield* Console.log(Table.format(secrets.map(({ bucket, id, type }) => [id, bucket, type])))
})

/** Prints the current code of a one-time password. */
export const totp = (options: Options) =>
  withId(options, [], (storage, id) =>
    Effect.gen(function* () {
      if (id.type !== "UsernamePasswordTotp")
        return yield* usage(`A ${id.type} has no one-time password; only a UsernamePasswordTotp has`)
      const secret = yield* storage.get(id)
      if (secret.type !== "UsernamePasswordTotp") return
      const { code, remainingSeconds, validTillUtc } = secret.totp.totpCode
      if (options.json) {
        const shown = { code: Redacted.value(code), remainingSeconds, validTillUtc: DateTime.formatIso(validTillUtc) }
        return yield* Output.json(shown)
      }
      yield* Console.log(Redacted.value(code))
      const { stderrIsTerminal } = yield* Stdio.Stdio
      if (yield* stderrIsTerminal) yield* Console.error(`valid for ${remainingSeconds} s`)
    })
  )

/** Prints what an id says. Nothing is read. */
export const parseId = Effect.fnUntraced(function* (options: Options) {
  const [text = ""] = yield* Store.operands(options.operands, ["the id of a secret"])
  const { buckets, id } = yield* Store.findId(yield* Store.open(options), text)
  const facts = { bucketSet: buckets.name, bucket: id.bucket, type: id.type, key: id.key }
  yield* options.json ? Output.json(facts) : Console.log(Table.format(Object.entries(facts)))
})

/** Prints the versions of a secret, the newest first. */
export const history = (options: Options) =>
  withId(options, [], (storage, id) =>
    Effect.gen(function* () {
      const versions = (yield* storage.history(id)).map(({ created, version }) => ({
        version,
        created: DateTime.formatIso(created)
      }))
      yield* options.json
        ? Output.json(versions)
        : Console.log(Table.format(versions.map(({ created, version }) => [String(version), created])))
    })
  )

/** Writes an earlier version again, as the newest one. */
export const restore = (options: Options) =>
  withId(options, ["the number of a version"], (storage, id, [text = ""]) =>
    Effect.gen(function* () {
      if (!/^[1-9]\d{0,9}$/.test(text))
        return yield* usage("Expected the number of a version; `layerhost secrets history` prints them")
      yield* storage.restore(id, Number(text))
      if (options.json) yield* Output.json({ id: id.id, restored: Number(text) })
    })
  )

/** Encrypts the local files that are not encrypted with the present key yet. */
export const encrypt = Effect.fnUntraced(function* (
  options: Options & { readonly dryRun: boolean; readonly acceptPlainFiles: boolean }
) {
  yield* Store.operands(options.operands, [])
  const { config } = yield* Store.open(options)
  const { encryption, path } = yield* Effect.mapError(
    FileBackendOptions.fromConfig(config),
    ({ _tag, message }) => new SecretsCommandError({ message, tag: _tag, exitCode: exitCodes.failed })
  )
  if (encryption === undefined) {
    return yield* usage(
      "There is no key to encrypt with: set secretstore:encryptionKey or secretstore:encryptionKeyFile"
    )
  }
  const progress = yield* Progress.make("files")
  const outcomes = yield* FileReencryption.reencrypt({
    path,
    encryption: { ...encryption, acceptPlainFiles: encryption.acceptPlainFiles === true || options.acceptPlainFiles },
    dryRun: options.dryRun,
    onOutcome: (_, total) => progress.step(total)
  }).pipe(
    Effect.mapError(
      ({ message }) => new SecretsCommandError({ message, tag: "PlatformError", exitCode: exitCodes.unavailable })
    ),
    Effect.ensuring(progress.end)
  )
  const count = (result: FileReencryption.Outcome["result"]) => outcomes.filter((each) => each.result === result).length
  const failed = outcomes.flatMap(({ file, reason, result }) => (result === "failed" ? [{ file, reason }] : []))
  if (options.json) {
    yield* Output.json({
      dryRun: options.dryRun,
      key: encryption.key.id,
      encrypted: count("encrypted"),
      current: count("current"),
      failed
    })
  } else {
    for (const { file, reason } of failed) yield* Console.error(`${file} ${reason}`)
    const done = options.dryRun ? "to be encrypted" : "encrypted"
    yield* Console.log(
      `${count("encrypted")} files ${done} with the key ${encryption.key.id}, ${count("current")} were so before, ${failed.length} cannot be read`
    )
  }
  if (failed.length > 0) return yield* new Told({ exitCode: exitCodes.failed })
})
