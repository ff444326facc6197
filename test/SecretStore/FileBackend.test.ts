import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as Path from "effect/Path"
import type { SystemErrorTag } from "effect/PlatformError"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as fs from "node:fs"
import * as path from "node:path"
import type { Bucket } from "../../src/SecretStore/BucketSet.ts"
import * as FileBackend from "../../src/SecretStore/FileBackend.ts"
import type * as FileEncryption from "../../src/SecretStore/FileEncryption.ts"
import * as ProcessLock from "../../src/SecretStore/ProcessLock.ts"
import { SecretBackend } from "../../src/SecretStore/SecretBackend.ts"
import type { SecretId } from "../../src/SecretStore/SecretId.ts"
import type { SecretStorageError } from "../../src/SecretStore/SecretStorageError.ts"
import { revealed, suite } from "./SecretStorageTest.ts"
import { type Credentials, CredentialStorage, login, samples, seed } from "./support/Credentials.ts"
import {
  encryptionKey,
  failure,
  filesBelow,
  fileSystemWith,
  nodeFsWith,
  platform,
  systemError,
  temporaryDirectory
} from "./support/Files.ts"

suite(
  "plain files",
  Layer.unwrap(Effect.map(temporaryDirectory, (root) => FileBackend.layer({ path: root }))).pipe(
    Layer.provide(platform)
  )
)

suite(
  "encrypted files",
  Layer.unwrap(
    Effect.map(temporaryDirectory, (root) => FileBackend.layer({ path: root, encryption: { key: encryptionKey() } }))
  ).pipe(Layer.provide(platform))
)

/** Runs with a storage over the files below a directory. */
const over =
  (root: string, files: Layer.Layer<FileSystem.FileSystem | Path.Path> = platform) =>
  <A, E>(effect: Effect.Effect<A, E, CredentialStorage | SecretBackend>): Effect.Effect<A, E> =>
    Effect.provide(
      effect,
      CredentialStorage.layer.pipe(Layer.provideMerge(FileBackend.layer({ path: root })), Layer.provide(files))
    )

type CredentialId = SecretId<Bucket<typeof Credentials>>

const create = (password: string) => CredentialStorage.use((storage) => storage.create("ApiKeys", login(password)))
const get = (id: CredentialId) => CredentialStorage.use((storage) => Effect.map(storage.get(id), revealed))
const update = (id: CredentialId, password: string) =>
  CredentialStorage.use((storage) => storage.update(id, login(password)))
const remove = (id: CredentialId) => CredentialStorage.use((storage) => storage.delete(id))
const exists = (id: CredentialId) => CredentialStorage.use((storage) => storage.exists(id))
const list = CredentialStorage.use((storage) => Stream.runCollect(storage.list("ApiKeys")))
const unavailable = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => expect(error._tag).toBe("SecretBackendUnavailable"))

const lockOf = ({ bucket, key, type }: SecretId) => ProcessLock.stripeOf(`Credentials/${bucket}/${type}/${key}`)

const fileOf = (id: SecretId) => path.join("Credentials", id.bucket, id.type, `${id.key}.json`)

describe("FileBackend", () => {
  it.effect("keeps <root>/<bucket set>/<bucket>/<type>/<key>.json for its owner only", () =>
    Effect.gen(function* () {
      const root = path.join(yield* temporaryDirectory, "a", "b")
      const id = yield* create("1").pipe(over(root))
      expect(filesBelow(root)).toEqual([fileOf(id)])
      expect(JSON.parse(fs.readFileSync(path.join(root, fileOf(id)), "utf8"))).toEqual({
        type: "UsernamePassword",
        username: "ada",
        password: "1",
        metadata: { version: 1, created: "1970-01-01T00:00:00.000Z", updated: "1970-01-01T00:00:00.000Z", earlier: [] }
      })
      const parts = ["", "Credentials", "Credentials/ApiKeys", "Credentials/ApiKeys/UsernamePassword"]
      for (const part of parts) expect(fs.statSync(path.join(root, part)).mode & 0o777).toBe(0o700)
      expect(fs.statSync(path.join(root, fileOf(id))).mode & 0o777).toBe(0o600)
      yield* update(id, "2").pipe(over(root))
      expect(fs.statSync(path.join(root, fileOf(id))).mode & 0o777).toBe(0o600)
      expect(yield* get(id).pipe(over(root))).toMatchObject({ password: "2" })
      yield* remove(id).pipe(over(root))
      expect(filesBelow(root)).toEqual([])
    })
  )

  it.effect("warns at start where the files are", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const logged: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void logged.push(`${logLevel} ${String(message)}`))
      yield* Effect.void.pipe(over(root), Effect.provide(Logger.layer([logger])))
      expect(logged).toEqual([`Warn Secrets are kept as plain files in ${root}: for development and tests only`])
    })
  )

  it.effect("temporary siblings are hidden, and swept at start; nothing else is", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const id = yield* create("1").pipe(over(root))
      const directory = path.dirname(fileOf(id))
      const kept = [
        "note.tmp",
        path.join("Credentials", ".keep.0123456789abcdef.tmp"),
        path.join(directory, ".hidden"),
        path.join(directory, "deeper", `.${id.key}.json.0123456789abcdef.tmp`)
      ]
      fs.mkdirSync(path.join(root, directory, "deeper"))
      for (const file of kept) fs.writeFileSync(path.join(root, file), "")
      fs.writeFileSync(path.join(root, directory, `.${id.key}.json.0123456789abcdef.tmp`), '{"type"')
      expect(yield* get(id).pipe(over(root))).toMatchObject({ password: "1" })
      expect(filesBelow(root)).toEqual([...kept, fileOf(id)].toSorted())
    })
  )

  it.effect("a start in another process that sweeps a file being written does not fail the write", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const id = yield* create("1").pipe(over(root))
      let swept = 0
      const files = nodeFsWith({
        rename: (from, to, done) => {
          if (swept++ === 0) fs.rmSync(from)
          fs.rename(from, to, done as fs.NoParamCallback)
        }
      })
      yield* update(id, "2").pipe(over(root, files))
      expect(swept).toBe(2)
      expect(yield* get(id).pipe(over(root))).toMatchObject({ password: "2" })
      expect(filesBelow(root)).toEqual([fileOf(id)])
    })
  )

  it.effect("a directory that vanished while the process ran is made again", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      yield* Effect.gen(function* () {
        yield* create("1")
        fs.rmSync(path.join(root, "Credentials"), { recursive: true })
        yield* unavailable(create("2"))
        const id = yield* create("3")
        expect(yield* get(id)).toMatchObject({ password: "3" })
      }).pipe(over(root))
    })
  )

  it.effect("a root that is missing is a failure and not an absence", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      yield* Effect.gen(function* () {
        const id = yield* create("1")
        fs.rmSync(root, { recursive: true })
        yield* unavailable(get(id))
        yield* unavailable(update(id, "2"))
        yield* unavailable(remove(id))
        yield* unavailable(create("2"))
        expect(fs.existsSync(root)).toBe(false)
      }).pipe(over(root))
    })
  )

  it.effect("a root that cannot be used lets the service start, fails operations, and can be mended", () =>
    Effect.gen(function* () {
      const root = path.join(yield* temporaryDirectory, "root")
      fs.writeFileSync(root, "")
      yield* Effect.gen(function* () {
        yield* unavailable(create("1"))
        fs.rmSync(root)
        fs.mkdirSync(root)
        yield* create("2")
      }).pipe(over(root))
    })
  )

  it.effect("what does not decode is corrupt, and the error does not repeat it; no update loses any of it", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const id = yield* create("1").pipe(over(root))
      const file = path.join(root, fileOf(id))
      for (const content of ["", "canary", '{"password":"canary', "null", '{"password":"canary","metadata":{}}']) {
        fs.writeFileSync(file, content)
        const error = yield* Effect.flip(update(id, "2")).pipe(over(root))
        expect(error).toMatchObject({ _tag: "SecretCorrupt", id: id.id })
        expect(error.message).not.toContain("canary")
        expect(fs.readFileSync(file, "utf8")).toBe(content)
      }
      for (const content of [
        "",
        "canary",
        '{"password":"canary',
        '{"type":"UsernamePassword","username":"canary"}',
        '{"type":"UsernamePassword","username":"canary","password":["canary"]}',
        '{"type":"UsernamePasswordApiKey","username":"canary","password":"canary","apiKey":"canary"}',
        "null"
      ]) {
        fs.writeFileSync(file, content)
        const error = yield* Effect.flip(get(id)).pipe(over(root))
        expect(error).toMatchObject({ _tag: "SecretCorrupt", id: id.id })
        expect(error.message).not.toContain("canary")
      }
      // JSON that is no secret can be kept as an earlier version.
      fs.writeFileSync(file, '{"type":"UsernamePassword","username":"half"}')
      yield* update(id, "2").pipe(over(root))
      expect(yield* get(id).pipe(over(root))).toMatchObject({ password: "2" })
      expect(fs.readFileSync(file, "utf8")).toContain("half")
    })
  )

  it.effect("a file that was written by hand is at version 1, of the time when it was written", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const id = yield* create("1").pipe(over(root))
      const file = path.join(root, fileOf(id))
      fs.writeFileSync(file, JSON.stringify({ type: "UsernamePassword", username: "ada", password: "by hand" }))
      fs.utimesSync(file, 1000, 2000)
      const written = DateTime.makeUnsafe(2_000_000)
      const metadata = CredentialStorage.use((storage) => storage.metadata(id))
      expect(yield* metadata.pipe(over(root))).toEqual({ version: 1, created: written, updated: written })
      yield* update(id, "2").pipe(over(root))
      expect(yield* metadata.pipe(over(root))).toMatchObject({ version: 2, created: written })
      yield* CredentialStorage.use((storage) => storage.restore(id, 1)).pipe(over(root))
      expect(yield* get(id).pipe(over(root))).toMatchObject({ password: "by hand" })
    })
  )

  it.effect("keeps as many versions as it is told to, and no seed but the one that stands", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const layer = CredentialStorage.layer.pipe(
        Layer.provide(FileBackend.layer({ path: root, versionsKept: 2 })),
        Layer.provide(platform)
      )
      yield* Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", samples.UsernamePasswordTotp)
        const base32Key = Redacted.make("MFRGGZDFMZTWQ2LK")
        yield* storage.update(id, { ...samples.UsernamePasswordTotp, totp: { totpKey: { base32Key } } })
        yield* storage.update(id, { ...samples.UsernamePasswordTotp, totp: { totpKey: { base32Key } } })
        expect((yield* storage.history(id)).map(({ version }) => version)).toEqual([3, 2])
        expect((yield* Effect.flip(storage.restore(id, 1)))._tag).toBe("SecretVersionNotFound")
        const text = fs.readFileSync(path.join(root, fileOf(id)), "utf8")
        expect(text.split("MFRGGZDFMZTWQ2LK")).toHaveLength(2)
        expect(text).not.toContain(seed)
      }).pipe(Effect.provide(layer))
    })
  )

  it.effect(
    "what another key encrypted is refused, with its file and keys, and not written over; what was changed is corrupt",
    () =>
      Effect.gen(function* () {
        const root = yield* temporaryDirectory
        const [key, other] = [encryptionKey(), encryptionKey()]
        const storage = (encryption?: FileEncryption.Options) =>
          CredentialStorage.layer.pipe(
            Layer.provide(FileBackend.layer({ path: root, ...(encryption !== undefined && { encryption }) })),
            Layer.provide(platform)
          )
        const id = yield* create("canary").pipe(Effect.provide(storage({ key })))
        const before = fs.readFileSync(path.join(root, fileOf(id)), "utf8")
        for (const encryption of [undefined, { key: other }]) {
          const operations: ReadonlyArray<Effect.Effect<unknown, SecretStorageError, CredentialStorage>> = [
            get(id),
            update(id, "2")
          ]
          for (const operation of operations) {
            const error = yield* Effect.flip(operation).pipe(Effect.provide(storage(encryption)))
            expect(error._tag).toBe("SecretAccessDenied")
            expect(error.message).toContain(`the file ${path.join(root, fileOf(id))} is encrypted`)
          }
          expect(fs.readFileSync(path.join(root, fileOf(id)), "utf8")).toBe(before)
        }
        expect(yield* get(id).pipe(Effect.provide(storage({ key: other, formerKeys: [key] })))).toMatchObject({
          password: "canary"
        })
        yield* update(id, "2").pipe(Effect.provide(storage({ key: other, formerKeys: [key] })))
        expect(yield* get(id).pipe(Effect.provide(storage({ key: other })))).toMatchObject({ password: "2" })
        const neighbour = yield* create("3").pipe(Effect.provide(storage({ key: other })))
        fs.copyFileSync(path.join(root, fileOf(id)), path.join(root, fileOf(neighbour)))
        const error = yield* Effect.flip(get(neighbour)).pipe(Effect.provide(storage({ key: other })))
        expect(error).toMatchObject({ _tag: "SecretCorrupt", id: neighbour.id })
        expect(error.message).toContain(`the file ${path.join(root, fileOf(neighbour))} was changed`)
        expect(yield* Effect.flip(update(neighbour, "4")).pipe(Effect.provide(storage({ key: other })))).toEqual(error)
      })
  )

  it.effect("no id leads out of the root, not even one that no parser let through", () =>
    Effect.gen(function* () {
      const outside = yield* temporaryDirectory
      const root = path.join(outside, "root")
      const victim = path.join(outside, "victim.json")
      fs.writeFileSync(victim, "untouched")
      const id = yield* create("1").pipe(over(root))
      const forged = ["../../../../victim", "..", "a/b", "a\\b", "a\0b", ".hidden", ""].flatMap((part) => [
        { ...id, key: part },
        { ...id, bucket: part },
        { ...id, type: part }
      ]) as unknown as ReadonlyArray<SecretId>
      const backend = yield* SecretBackend.pipe(over(root))
      for (const id of forged) {
        for (const bucketSet of ["Credentials", "../root/Credentials"]) {
          const operations: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            backend.get({ bucketSet, id }),
            backend.create({ bucketSet, id }, samples.UsernamePassword),
            backend.update({ bucketSet, id }, samples.UsernamePassword),
            backend.delete({ bucketSet, id })
          ]
          for (const operation of operations) {
            expect(Exit.isFailure(yield* Effect.exit(operation))).toBe(true)
          }
        }
      }
      expect(filesBelow(outside)).toEqual([path.join("root", fileOf(id)), "victim.json"])
      expect(fs.readFileSync(victim, "utf8")).toBe("untouched")
    })
  )
})

describe("FileBackend with one operation broken", () => {
  const codes = ["EACCES", "EIO"]

  const openBroken = (broken: "r" | "wx") => (code: string) =>
    nodeFsWith({
      open: (file, flag, mode, done) => {
        if (flag === broken) done(systemError(code), 0)
        else fs.open(file, flag, mode, done)
      }
    })
  const syncBroken = (isBroken: (stats: fs.Stats) => boolean) => (code: string) =>
    nodeFsWith({
      fsync: (descriptor, done) => {
        if (isBroken(fs.fstatSync(descriptor))) done(systemError(code))
        else fs.fsync(descriptor, done as fs.NoParamCallback)
      }
    })

  const breaks = {
    "opening of the file": openBroken("wx"),
    write: (code) =>
      nodeFsWith({
        writeFileSync: () => {
          throw systemError(code)
        }
      }),
    "half of a write": (code) =>
      nodeFsWith({
        writeFileSync: (descriptor, content) => {
          fs.writeSync(descriptor, content.slice(0, content.length / 2))
          throw systemError(code)
        }
      }),
    "sync of the file": syncBroken((stats) => stats.isFile()),
    "opening of the directory": openBroken("r"),
    "sync of the directory": syncBroken((stats) => stats.isDirectory()),
    rename: (code) => nodeFsWith({ rename: (_from, _to, done) => done(systemError(code)) }),
    link: (code) => nodeFsWith({ link: (_existing, _file, done) => done(systemError(code)) })
  } satisfies Record<string, (code: string) => Layer.Layer<FileSystem.FileSystem | Path.Path>>

  it.effect.each(Object.keys(breaks).filter((name) => name !== "rename") as Array<keyof typeof breaks>)(
    "%s: a create fails and leaves nothing",
    (name) =>
      Effect.gen(function* () {
        for (const code of codes) {
          const root = yield* temporaryDirectory
          yield* unavailable(create("1")).pipe(over(root, breaks[name](code)))
          expect(filesBelow(root)).toEqual([])
          // Also where the directories were there.
          yield* Effect.andThen(create("1"), remove).pipe(over(root))
          yield* unavailable(create("1")).pipe(over(root, breaks[name](code)))
          expect(filesBelow(root)).toEqual([])
        }
      })
  )

  it.effect.each(Object.keys(breaks).filter((name) => name !== "link") as Array<keyof typeof breaks>)(
    "%s: an update fails and leaves the old secret or the new one",
    (name) =>
      Effect.gen(function* () {
        for (const code of codes) {
          const root = yield* temporaryDirectory
          const id = yield* create("1").pipe(over(root))
          yield* unavailable(update(id, "2")).pipe(over(root, breaks[name](code)))
          expect(filesBelow(root)).toEqual([fileOf(id)])
          // The directory is flushed last, when the new secret is in place already.
          const password = name.endsWith("of the directory") ? "2" : "1"
          expect(yield* get(id).pipe(over(root))).toMatchObject({ password })
        }
      })
  )

  it.effect("a read that fails is no absence, and neither are a lookup and a removal", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const id = yield* create("1").pipe(over(root))
      const tags: ReadonlyArray<SystemErrorTag> = ["PermissionDenied", "Unknown"]
      for (const [index, tag] of tags.entries()) {
        const error = systemError(codes[index]!)
        const unreadable = over(root, nodeFsWith({ readFile: (_file, _options, done) => done(error, "") }))
        const broken = (change: Partial<FileSystem.FileSystem>) =>
          over(
            root,
            fileSystemWith(() => change)
          )
        yield* unavailable(get(id)).pipe(unreadable)
        yield* unavailable(update(id, "2")).pipe(unreadable)
        yield* unavailable(exists(id)).pipe(broken({ exists: () => failure("exists", tag) }))
        yield* unavailable(list).pipe(broken({ readDirectory: () => failure("readDirectory", tag) }))
        yield* unavailable(remove(id)).pipe(over(root, nodeFsWith({ unlink: (_, done) => done(error) })))
        yield* unavailable(create("2")).pipe(broken({ makeDirectory: () => failure("makeDirectory", tag) }))
      }
      expect(yield* get(id).pipe(over(root))).toMatchObject({ password: "1" })
    })
  )

  it.effect("an update that is interrupted half-way leaves a whole secret and no stray file", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const id = yield* create("1").pipe(over(root))
      const writing = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const paused = Effect.andThen(Deferred.succeed(writing, undefined), Deferred.await(goOn))
      const files = nodeFsWith({
        rename: (from, to, done) =>
          void Effect.runPromise(paused).then(() => fs.rename(from, to, done as fs.NoParamCallback))
      })
      const fiber = yield* Effect.forkChild(update(id, "2").pipe(over(root, files)))
      yield* Deferred.await(writing)
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* Deferred.succeed(goOn, undefined)
      yield* Fiber.join(interrupting)
      const exit = yield* Fiber.await(fiber)
      expect(Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)).toBe(true)
      expect(filesBelow(root)).toEqual([fileOf(id)])
      expect(yield* get(id).pipe(over(root))).toMatchObject({ password: "2" })
    })
  )

  it.effect("an update that waits for another of the same secret can be interrupted, and others do not wait", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const one = yield* create("1").pipe(over(root))
      // Some secrets share a lock.
      const two = yield* create("1").pipe(Effect.repeat({ while: (two) => lockOf(two) === lockOf(one) }), over(root))
      const writing = yield* Deferred.make<void>()
      const goOn = yield* Deferred.make<void>()
      const paused = Effect.andThen(Deferred.succeed(writing, undefined), Deferred.await(goOn))
      const files = nodeFsWith({
        rename: (from, to, done) => {
          const pause = to.includes(one.key) ? Effect.runPromise(paused) : Promise.resolve()
          void pause.then(() => fs.rename(from, to, done as fs.NoParamCallback))
        }
      })
      yield* Effect.gen(function* () {
        const first = yield* Effect.forkChild(update(one, "2"))
        yield* Deferred.await(writing)
        const second = yield* Effect.forkChild(update(one, "3"))
        yield* update(two, "2")
        yield* Fiber.interrupt(second)
        yield* Deferred.succeed(goOn, undefined)
        yield* Fiber.join(first)
        expect(yield* get(one)).toMatchObject({ password: "2" })
        expect(yield* get(two)).toMatchObject({ password: "2" })
      }).pipe(over(root, files))
    })
  )
})
