import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import * as fs from "node:fs"
import * as path from "node:path"
import * as FileBackend from "../../src/SecretStore/FileBackend.ts"
import type * as FileEncryption from "../../src/SecretStore/FileEncryption.ts"
import * as MemoryBackend from "../../src/SecretStore/MemoryBackend.ts"
import { SecretBackend } from "../../src/SecretStore/SecretBackend.ts"
import type { SecretInput } from "../../src/SecretStore/Secret.ts"
import type { SecretDocument } from "../../src/SecretStore/SecretDocument.ts"
import * as SecretMigration from "../../src/SecretStore/SecretMigration.ts"
import * as SecretStorage from "../../src/SecretStore/SecretStorage.ts"
import * as SecretType from "../../src/SecretStore/SecretType.ts"
import { revealed } from "./SecretStorageTest.ts"
import { Credentials, login, samples, seed } from "./support/Credentials.ts"
import { encryptionKey, filesBelow, platform, temporaryDirectory } from "./support/Files.ts"
import { backend, Server } from "./support/Server.ts"
import { refuse } from "./support/server/faults.ts"

type Backend = SecretBackend["Service"]

const built = <E, R>(layer: Layer.Layer<SecretBackend, E, R>) =>
  Effect.map(Layer.build(layer), (context) => Context.get(context, SecretBackend))
const files = (root: string, encryption?: FileEncryption.Options) =>
  built(
    FileBackend.layer({ path: root, ...(encryption !== undefined && { encryption }) }).pipe(Layer.provide(platform))
  )
const memory = built(MemoryBackend.layer())

const storageOver = (backend: Backend) =>
  SecretStorage.make(Credentials).pipe(Effect.provideService(SecretBackend, backend))

/** One secret of each type in each bucket. */
const fill = Effect.fnUntraced(function* (backend: Backend) {
  // A time with a past, as codes have it.
  yield* TestClock.setTime(Date.UTC(2026, 0, 1))
  const storage = yield* storageOver(backend)
  return yield* Effect.forEach(["ApiKeys", "DatabaseCredentials", "ServiceAccounts"] as const, (bucket) =>
    Effect.forEach(SecretType.all, (type) => storage.create(bucket, samples[type]))
  ).pipe(Effect.map((ids) => ids.flat()))
})

/** Moves everything, and counts what became of it. */
const migrate = (from: Backend, to: Backend, more: Partial<SecretMigration.Options> = {}) =>
  Effect.gen(function* () {
    const options = { from, to, dryRun: false, seeds: new Map(), ...more }
    const locations = yield* SecretMigration.locations(from, [Credentials])
    const outcomes = yield* Effect.forEach(locations, (each) => SecretMigration.move(each, options), { concurrency: 4 })
    return {
      outcomes,
      counts: Object.fromEntries(
        Object.entries(Object.groupBy(outcomes, ({ result }) => result)).map(([result, all]) => [result, all.length])
      )
    }
  })

/** As the server gives it. */
const withoutSeed = Option.map((secret: SecretInput | SecretDocument): SecretInput | SecretDocument => {
  const { totp: _, ...document } = { totp: undefined, ...secret }
  return document as SecretDocument
})

const expectSame = Effect.fnUntraced(function* (
  from: Backend,
  to: Backend,
  ids: Effect.Success<ReturnType<typeof fill>>
) {
  const [here, there] = [yield* storageOver(from), yield* storageOver(to)]
  for (const id of ids) expect(revealed(yield* there.get(id))).toEqual(revealed(yield* here.get(id)))
})

describe("SecretMigration", () => {
  it.effect(
    "moves everything from files to the server, seeds too, keeps the ids, and finds it done the next time",
    () =>
      Effect.gen(function* () {
        const from = yield* files(yield* temporaryDirectory)
        const to = yield* built(backend())
        const ids = yield* fill(from)
        expect((yield* migrate(from, to)).counts).toEqual({ moved: 12 })
        yield* expectSame(from, to, ids)
        const { keys, served } = yield* Server
        expect(keys.size).toBe(3)
        const before = served.length
        expect((yield* migrate(from, to)).counts).toEqual({ present: 12 })
        expect(served.slice(before).filter(({ method }) => method !== "GET")).toEqual([])
      }).pipe(Effect.provide(Server.layer))
  )

  it.effect(
    "moves from the server to files all but one-time passwords, and those with the seeds that it is given",
    () =>
      Effect.gen(function* () {
        const from = yield* built(backend())
        const root = yield* temporaryDirectory
        const to = yield* files(root, { key: encryptionKey() })
        const ids = yield* fill(from)
        const first = yield* migrate(from, to)
        expect(first.counts).toEqual({ moved: 9, needsSeed: 3 })
        expect(filesBelow(root).length).toBe(9)
        const waiting = first.outcomes
          .filter(({ result }) => result === "needsSeed")
          .map(({ location }) => location.id.id)
        expect(waiting.toSorted()).toEqual(
          ids.flatMap(({ id, type }) => (type === "UsernamePasswordTotp" ? [id] : [])).toSorted()
        )
        const seeds = new Map([
          [waiting[0]!, Redacted.make(seed.toLowerCase())],
          [waiting[1]!, Redacted.make("canary-1")]
        ])
        const second = yield* migrate(from, to, { seeds })
        expect(second.counts).toEqual({ present: 9, moved: 1, failed: 1, needsSeed: 1 })
        const reason = second.outcomes.find(({ result }) => result === "failed")?.reason
        expect(reason).toContain("totp.totpKey.base32Key: Expected Base32 text")
        expect(reason).not.toContain("canary")
        // Codes tell that the seed is there, though the source does not give it.
        expect((yield* migrate(from, to)).counts).toEqual({ present: 10, needsSeed: 2 })
        yield* expectSame(
          from,
          to,
          ids.filter(({ id }) => !waiting.slice(1).includes(id))
        )
      }).pipe(Effect.provide(Server.layer))
  )

  it.effect("moves plain files to encrypted ones", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const key = encryptionKey()
      const ids = yield* fill(yield* files(root))
      const from = yield* files(root, { key, acceptPlainFiles: true })
      const target = yield* temporaryDirectory
      const to = yield* files(target, { key })
      expect((yield* migrate(from, to)).counts).toEqual({ moved: 12 })
      yield* expectSame(from, to, ids)
      for (const file of filesBelow(target)) {
        expect(fs.readFileSync(path.join(target, file), "utf8")).not.toContain("canary")
      }
    })
  )

  it.effect("in a dry run, tells the same and writes nothing", () =>
    Effect.gen(function* () {
      const from = yield* memory
      const to = yield* built(backend())
      yield* fill(from)
      expect((yield* migrate(from, to, { dryRun: true })).counts).toEqual({ moved: 12 })
      const { documents, keys, served } = yield* Server
      expect([documents.size, keys.size]).toEqual([0, 0])
      expect(served.filter(({ method }) => method !== "GET")).toEqual([])
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("leaves what is there under an id alone when it is another secret, or has another seed", () =>
    Effect.gen(function* () {
      const from = yield* memory
      const to = yield* built(backend())
      const ids = yield* fill(from)
      yield* migrate(from, to)
      const there = yield* storageOver(to)
      const other = {
        ...samples.UsernamePasswordTotp,
        totp: { totpKey: { base32Key: Redacted.make("JBSWY3DPEHPK3PXP") } }
      }
      yield* there.update(ids[0]!, login("changed"))
      yield* there.update(ids[1]!, other)
      const { counts, outcomes } = yield* migrate(from, to)
      expect(counts).toEqual({ present: 10, conflict: 2 })
      expect(
        outcomes.flatMap(({ location, result }) => (result === "conflict" ? [location.id.id] : [])).toSorted()
      ).toEqual([ids[0]!.id, ids[1]!.id].toSorted())
      expect(revealed(yield* there.get(ids[0]!))).toMatchObject({ password: "changed" })
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("interrupted in the midst, leaves no half of a secret, and the next run does the rest", () =>
    Effect.gen(function* () {
      const from = yield* memory
      const server = yield* Server
      const to = yield* built(backend())
      const ids = yield* fill(from)
      const reached = yield* Deferred.make<void>()
      let seeds = 0
      server.fault = ({ method, path }) =>
        method === "POST" && path.startsWith("totp/keys") && ++seeds === 2
          ? () => void Deferred.doneUnsafe(reached, Effect.void)
          : undefined
      const fiber = yield* Effect.forkChild(migrate(from, to))
      yield* Deferred.await(reached)
      yield* Fiber.interrupt(fiber)
      server.fault = () => undefined
      const totp = [...server.documents.keys()].filter((key) =>
        ids.some(({ id, type }) => key.endsWith(id) && type === "UsernamePasswordTotp")
      )
      expect(totp.length).toBe(server.keys.size)
      const { counts } = yield* migrate(from, to)
      expect((counts["moved"] ?? 0) + (counts["present"] ?? 0)).toBe(12)
      expect(counts["moved"]).toBeGreaterThan(0)
      yield* expectSame(from, to, ids)
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("killed between the two engines of the server, a secret gets its seed in the next run", () =>
    Effect.gen(function* () {
      const from = yield* memory
      const server = yield* Server
      const to = yield* built(backend())
      const ids = yield* fill(from)
      yield* migrate(from, to)
      const half = ids.find(({ type }) => type === "UsernamePasswordTotp")!
      server.keys.delete(half.id)
      expect((yield* migrate(from, to, { dryRun: true })).counts).toEqual({ present: 11, moved: 1 })
      expect(server.keys.has(half.id)).toBe(false)
      expect((yield* migrate(from, to)).counts).toEqual({ present: 11, moved: 1 })
      yield* expectSame(from, to, ids)
      expect((yield* migrate(from, to)).counts).toEqual({ present: 12 })
      // Without a seed to give it, it waits for one.
      server.keys.delete(half.id)
      const withoutSeeds: Backend = {
        ...from,
        getWithSeed: (location) => Effect.map(from.getWithSeed(location), withoutSeed)
      }
      expect((yield* migrate(withoutSeeds, to)).counts).toEqual({ present: 11, needsSeed: 1 })
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("stops where a backend refuses, and goes on once it does not", () =>
    Effect.gen(function* () {
      const from = yield* memory
      const server = yield* Server
      const to = yield* built(backend())
      const ids = yield* fill(from)
      let writes = 0
      server.fault = ({ method }) => (method === "POST" && ++writes > 5 ? refuse(403) : undefined)
      const error = yield* Effect.flip(migrate(from, to))
      expect(error._tag).toBe("SecretAccessDenied")
      server.fault = () => undefined
      const { counts } = yield* migrate(from, to)
      expect(counts["present"]).toBeGreaterThan(0)
      expect((counts["moved"] ?? 0) + (counts["present"] ?? 0)).toBe(12)
      yield* expectSame(from, to, ids)
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect(
    "tells of a secret that is not read back as it was written, and of one that does not decode, and goes on",
    () =>
      Effect.gen(function* () {
        const root = yield* temporaryDirectory
        const from = yield* files(root)
        const ids = yield* fill(from)
        fs.writeFileSync(path.join(root, "Credentials/ApiKeys/UsernamePassword", `${ids[0]!.key}.json`), "canary")
        const real = yield* memory
        const to: Backend = {
          ...real,
          create: (location, secret) =>
            real.create(
              location,
              location.id.id === ids[2]!.id ? { ...samples.UsernamePasswordApiKey, username: "eve" } : secret
            )
        }
        const { counts, outcomes } = yield* migrate(from, to)
        expect(counts).toEqual({ moved: 10, failed: 2 })
        const reasonOf = (id: string) => outcomes.find(({ location }) => location.id.id === id)?.reason
        expect(reasonOf(ids[0]!.id)).toContain("does not decode: it is not JSON")
        expect(reasonOf(ids[2]!.id)).toBe("what is read back is not what was written")
      })
  )
})
