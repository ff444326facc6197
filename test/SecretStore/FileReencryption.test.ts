import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as fs from "node:fs"
import * as path from "node:path"
import * as FileBackend from "../../src/SecretStore/FileBackend.ts"
import type * as FileEncryption from "../../src/SecretStore/FileEncryption.ts"
import * as FileReencryption from "../../src/SecretStore/FileReencryption.ts"
import { revealed } from "./SecretStorageTest.ts"
import { CredentialStorage, login } from "./support/Credentials.ts"
import { encryptionKey, filesBelow, nodeFsWith, platform, systemError, temporaryDirectory } from "./support/Files.ts"

const over = (root: string, encryption?: FileEncryption.Options) =>
  CredentialStorage.layer.pipe(
    Layer.provide(FileBackend.layer({ path: root, ...(encryption !== undefined && { encryption }) })),
    Layer.provide(platform)
  )

/** So many secrets, whose passwords are their indexes. */
const makeSecrets = (root: string, count: number, encryption?: FileEncryption.Options) =>
  CredentialStorage.use((storage) =>
    Effect.forEach(Array.from({ length: count }), (_, i) => storage.create("ApiKeys", login(`canary ${i}`)))
  ).pipe(Effect.provide(over(root, encryption)))

type Ids = Effect.Success<ReturnType<typeof makeSecrets>>

const expectAll = (root: string, ids: Ids, encryption: FileEncryption.Options) =>
  CredentialStorage.use((storage) =>
    Effect.forEach(ids, (id, i) =>
      Effect.map(storage.get(id), (secret) => expect(revealed(secret)).toMatchObject({ password: `canary ${i}` }))
    )
  ).pipe(Effect.provide(over(root, encryption)))

const reencrypt = (
  root: string,
  encryption: FileEncryption.Options,
  more: Partial<Parameters<typeof FileReencryption.reencrypt>[0]> = {}
) =>
  Effect.map(
    FileReencryption.reencrypt({ path: root, encryption, dryRun: false, onOutcome: () => Effect.void, ...more }),
    (outcomes) => Object.groupBy(outcomes, ({ result }) => result)
  )

describe("FileReencryption", () => {
  it.effect("brings every file under the new key, after which the former one can be forgotten", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const [old, key] = [encryptionKey(), encryptionKey()]
      const ids = yield* makeSecrets(root, 10, { key: old })
      const [newer] = yield* makeSecrets(root, 1, { key, formerKeys: [old] })
      const dry = yield* reencrypt(root, { key, formerKeys: [old] }, { dryRun: true })
      expect([dry.encrypted?.length, dry.current?.length]).toEqual([10, 1])
      const totals: Array<number> = []
      const onOutcome = (_: unknown, total: number) => Effect.sync(() => void totals.push(total))
      const done = yield* reencrypt(root, { key, formerKeys: [old] }, { onOutcome })
      expect([done.encrypted?.length, done.current?.length, done.failed]).toEqual([10, 1, undefined])
      expect(totals).toEqual(Array.from({ length: 11 }, () => 11))
      yield* expectAll(root, ids, { key })
      yield* expectAll(root, [newer!], { key })
      expect(Object.keys(yield* reencrypt(root, { key }))).toEqual(["current"])
    }).pipe(Effect.provide(platform))
  )

  it.effect("encrypts plain files where it is told to, and leaves what is no secret alone", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const key = encryptionKey()
      const ids = yield* makeSecrets(root, 5)
      fs.writeFileSync(path.join(root, "Credentials", "note.json"), "{}")
      fs.writeFileSync(path.join(root, "Credentials/ApiKeys/UsernamePassword/note.json"), "{}")
      const refused = yield* reencrypt(root, { key })
      expect(refused.failed?.map(({ reason }) => reason)).toEqual(
        ids.map(() => "is not encrypted, and secretstore:acceptPlainFiles is not set")
      )
      const done = yield* reencrypt(root, { key, acceptPlainFiles: true })
      expect(done.encrypted?.length).toBe(5)
      yield* expectAll(root, ids, { key })
      const contents = filesBelow(root).map((file) => fs.readFileSync(path.join(root, file), "utf8"))
      expect(contents.filter((content) => content === "{}").length).toBe(2)
      expect(contents.join()).not.toContain("canary")
    }).pipe(Effect.provide(platform))
  )

  it.effect("names each file that it cannot read, and goes on", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const [old, key] = [encryptionKey(), encryptionKey()]
      const ids = yield* makeSecrets(root, 3, { key: old })
      const lost = yield* makeSecrets(root, 1, { key: encryptionKey() })
      const { encrypted, failed } = yield* reencrypt(root, { key, formerKeys: [old] })
      expect(encrypted?.length).toBe(3)
      expect(failed).toMatchObject([
        { file: path.join(root, "Credentials/ApiKeys/UsernamePassword", `${lost[0]!.key}.json`) }
      ])
      expect(failed?.[0]?.reason).toContain(`and the keys at hand are ${key.id}, ${old.id}`)
      yield* expectAll(root, ids, { key })
    }).pipe(Effect.provide(platform))
  )

  it.effect("interrupted or failing half-way, it leaves every secret readable, and the next run does the rest", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const [old, key] = [encryptionKey(), encryptionKey()]
      const encryption = { key, formerKeys: [old] }
      const ids = yield* makeSecrets(root, 30, { key: old })

      const some = yield* Deferred.make<void>()
      let count = 0
      const onOutcome = () => (++count === 10 ? Effect.asVoid(Deferred.succeed(some, undefined)) : Effect.void)
      const fiber = yield* Effect.forkChild(reencrypt(root, encryption, { onOutcome }))
      yield* Deferred.await(some)
      yield* Fiber.interrupt(fiber)
      yield* expectAll(root, ids, encryption)
      expect(filesBelow(root).length).toBe(30)

      let renames = 0
      const full = nodeFsWith({
        rename: (from, to, done) => {
          if (renames++ < 3) fs.rename(from, to, done as fs.NoParamCallback)
          else done(systemError("ENOSPC"))
        }
      })
      const before = (yield* reencrypt(root, encryption, { dryRun: true })).encrypted?.length ?? 0
      const broken = yield* reencrypt(root, encryption).pipe(Effect.provide(full))
      expect([broken.encrypted?.length, broken.failed?.length]).toEqual([3, before - 3])
      yield* expectAll(root, ids, encryption)
      expect(filesBelow(root).length).toBe(30)

      expect((yield* reencrypt(root, encryption)).encrypted?.length).toBe(before - 3)
      yield* expectAll(root, ids, { key })
    }).pipe(Effect.provide(platform))
  )

  it.effect("goes on beside a service that writes, and loses none of its writes", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const [old, key] = [encryptionKey(), encryptionKey()]
      const encryption = { key, formerKeys: [old] }
      const ids = yield* makeSecrets(root, 20, { key: old })
      const write = CredentialStorage.use((storage) =>
        Effect.forEach(ids, (id, i) => storage.update(id, login(`canary ${i}`)), { concurrency: 4 })
      ).pipe(Effect.provide(over(root, { key: old, formerKeys: [key] })))
      yield* Effect.all([write, reencrypt(root, encryption), reencrypt(root, encryption)], { concurrency: 3 })
      yield* expectAll(root, ids, encryption)
    }).pipe(Effect.provide(platform))
  )
})
