/** Writes that the server takes in one engine and not in the other: nothing is lost, nothing is left behind. */
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import type { SecretId } from "../../src/SecretStore/SecretId.ts"
import { Credentials, CredentialStorage, login, samples } from "./support/Credentials.ts"
import { first, lie, lose, refuse, silence, when } from "./support/server/faults.ts"
import { type Fault, send, type StandIn } from "./support/server/StandIn.ts"
import { backend, Server, storage } from "./support/Server.ts"
import { until } from "./support/until.ts"
import type { Bucket } from "../../src/SecretStore/BucketSet.ts"

const impatient = Layer.fresh(CredentialStorage.layer).pipe(
  Layer.provide(backend(() => ({ timeout: Duration.millis(500) })))
)

const old = samples.UsernamePasswordTotp
const changed = {
  ...old,
  username: "grace",
  password: Redacted.make("canary-changed"),
  totp: { totpKey: { base32Key: Redacted.make("JBSWY3DPEHPK3PXP") } }
}

type Id = SecretId<Bucket<typeof Credentials>>

/** What the server keeps under an id: the name in the document, and which seed. */
const kept = (server: StandIn, id: Id) => {
  const newest = server.documents.get(`Credentials/ApiKeys/${id.id}`)?.at(-1)
  const document = newest?.deleted === "" ? (newest.data as { readonly username: string }) : undefined
  return [document?.username, server.keys.get(id.id)?.key]
}

const oldState = [old.username, Redacted.value(old.totp.totpKey.base32Key)]
const newState = [changed.username, Redacted.value(changed.totp.totpKey.base32Key)]

const faults: Readonly<Record<string, Fault>> = {
  "403": refuse(403, ["permission denied"]),
  "400": refuse(400, ["canary"]),
  "500": refuse(500),
  silence,
  "500 though it is done": lie(500),
  "no answer though it is done": lose
}

const keyValue = /^credentials\//
const totp = /^totp\//

describe.concurrent("SecretServer, half-way", () => {
  it.live.each(Object.keys(faults).flatMap((fault) => [[fault, keyValue] as const, [fault, totp] as const]))(
    "create, %s of %s: nothing stays behind",
    ([fault, engine]) =>
      Effect.gen(function* () {
        const server = yield* Server
        const store = Context.get(yield* Layer.build(impatient), CredentialStorage)
        server.fault = when("POST", engine, faults[fault]!)
        const error = yield* Effect.flip(store.create("ApiKeys", old))
        expect(error._tag).toBe(fault === "403" ? "SecretAccessDenied" : "SecretBackendUnavailable")
        expect(error.message).not.toContain("canary")
        expect(server.documents.size + server.keys.size).toBe(0)
      }).pipe(Effect.provide(storage()), withoutLog)
  )

  it.live.each(Object.keys(faults).flatMap((fault) => [[fault, keyValue] as const, [fault, totp] as const]))(
    "update, %s of %s: the old secret stands, or the new one",
    ([fault, engine]) =>
      Effect.gen(function* () {
        const server = yield* Server
        const store = Context.get(yield* Layer.build(impatient), CredentialStorage)
        const id = yield* store.create("ApiKeys", old)
        server.fault = when("POST", engine, faults[fault]!)
        const exit = yield* Effect.exit(store.update(id, changed))
        const isDone = engine === totp && /though it is done/.test(fault)
        expect(exit._tag).toBe(isDone ? "Success" : "Failure")
        expect(kept(server, id)).toEqual(isDone ? newState : oldState)
        server.fault = () => undefined
        yield* store.update(id, changed)
        expect(kept(server, id)).toEqual(newState)
      }).pipe(Effect.provide(storage()), withoutLog)
  )

  it.live.each(Object.keys(faults).flatMap((fault) => [[fault, keyValue] as const, [fault, totp] as const]))(
    "delete, %s of %s: the secret stands whole with its history, or is gone whole",
    ([fault, engine]) =>
      Effect.gen(function* () {
        const server = yield* Server
        const store = Context.get(yield* Layer.build(impatient), CredentialStorage)
        const id = yield* store.create("ApiKeys", changed)
        yield* store.update(id, old)
        server.fault = when("DELETE", engine, faults[fault]!)
        yield* Effect.flip(store.delete(id))
        const isDone = engine === totp && /though it is done/.test(fault)
        expect(kept(server, id)).toEqual(isDone ? [undefined, undefined] : oldState)
        server.fault = () => undefined
        if (!isDone) {
          expect((yield* store.get(id)).type).toBe(id.type)
          expect((yield* store.history(id)).at(-1)!.version).toBe(1)
        }
        yield* store.delete(id)
        expect(server.documents.size + server.keys.size).toBe(0)
      }).pipe(Effect.provide(storage()), withoutLog)
  )

  it.live("create, its answer lost and the repetition refused: nothing stays behind", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      for (const read of [undefined, refuse(403), refuse(405)]) {
        // Done, but the answer is lost; then the document is there already, and it cannot be told whose it is.
        const faults = [lose, read === undefined ? refuse(400) : undefined]
        let reads = 0
        server.fault = ({ method, path }) => {
          if (!keyValue.test(path)) return undefined
          if (method === "POST") return faults.shift()
          return method === "GET" && reads++ === 0 ? read : undefined
        }
        yield* Effect.flip(store.create("ApiKeys", old))
        expect(server.documents.size + server.keys.size).toBe(0)
      }
    }).pipe(Effect.provide(storage()), withoutLog)
  )

  it.live.each([keyValue, totp])("an interruption while %s is silent leaves nothing half-way", (engine) =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      /** Interrupts an operation when its request has come to the server, which never answers it. */
      const interrupt = <A, E>(method: string, operation: Effect.Effect<A, E>) =>
        Effect.gen(function* () {
          const arrived = yield* Deferred.make<void>()
          server.fault = first(
            1,
            when(method, engine, () => Deferred.doneUnsafe(arrived, Effect.void))
          )
          const fiber = yield* Effect.forkChild(operation)
          yield* Deferred.await(arrived)
          yield* Fiber.interrupt(fiber)
          server.fault = () => undefined
        })
      yield* interrupt("POST", store.create("ApiKeys", old))
      expect(server.documents.size + server.keys.size).toBe(0)
      const id = yield* store.create("ApiKeys", old)
      yield* interrupt("POST", store.update(id, changed))
      expect(kept(server, id)).toEqual(oldState)
      yield* interrupt("DELETE", store.delete(id))
      expect(kept(server, id)).toEqual(oldState)
    }).pipe(Effect.provide(storage()))
  )

  it.live("what cannot be cleaned up while the server is away, is when it is back", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = Context.get(yield* Layer.build(impatient), CredentialStorage)
      const [updated, deleted] = [yield* store.create("ApiKeys", old), yield* store.create("ApiKeys", old)]
      /** The server goes away when the second engine is asked, and comes back when the operation has failed. */
      const leaving = <A, E>(operation: Effect.Effect<A, E>) =>
        Effect.gen(function* () {
          server.fault = (asked) => (totp.test(asked.path) && asked.method !== "GET" ? leave : undefined)
          const leave: Fault = () => void server.stop()
          yield* Effect.flip(operation)
          yield* Effect.promise(() => server.start())
          server.fault = () => undefined
        })
      yield* leaving(store.create("ApiKeys", old))
      expect(server.documents.size).toBe(3)
      yield* leaving(store.update(updated, changed))
      expect(kept(server, updated)).toEqual([newState[0], oldState[1]])
      yield* leaving(store.delete(deleted))
      expect(kept(server, deleted)).toEqual([undefined, oldState[1]])
      yield* until(
        () =>
          server.documents.size === 2 && [updated, deleted].every((id) => String(kept(server, id)) === String(oldState))
      )
      expect(server.keys.size).toBe(2)
    }).pipe(Effect.provide(storage()), withoutLog)
  )

  it.live("an interruption closes the connection, so that the server can stop its work", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      const arrived = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      server.fault = () => (response) => {
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
        Deferred.doneUnsafe(arrived, Effect.void)
      }
      const fiber = yield* Effect.forkChild(store.get(id))
      yield* Deferred.await(arrived)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(closed)
    }).pipe(Effect.provide(storage()))
  )
})

const changedOf = (type: "UsernamePassword" | "UsernamePasswordTotp") =>
  type === "UsernamePasswordTotp" ? changed : { ...samples[type], username: "grace" }

/** What another process does to the documents of the server, right before it takes a request. */
const meanwhile =
  (change: () => void): Fault =>
  (response, answer) => {
    change()
    send(response, answer())
  }

describe.concurrent("SecretServer beside another process", () => {
  it.effect.each(["UsernamePassword", "UsernamePasswordTotp"] as const)(
    "two updates of the same version of a %s: both are done, one after the other",
    (type) =>
      Effect.gen(function* () {
        const server = yield* Server
        const store = yield* CredentialStorage
        const id = yield* store.create("ApiKeys", samples[type])
        const versions = server.documents.get(`Credentials/ApiKeys/${id.id}`)!
        const other = { data: { type, username: "other", password: "2" }, created: "", deleted: "" }
        server.fault = first(
          1,
          when(
            "POST",
            keyValue,
            meanwhile(() => versions.push(other))
          )
        )
        yield* store.update(id, { ...samples[type], username: "grace" })
        const names = versions.map(({ data }) => (data as { readonly username: string }).username)
        expect(names).toEqual(["ada", "other", "grace"])
      }).pipe(Effect.provide(storage()))
  )

  it.effect("an update whose seed may come after that of another update is done again, whole", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", old)
      const versions = server.documents.get(`Credentials/ApiKeys/${id.id}`)!
      server.fault = first(
        1,
        when(
          "POST",
          totp,
          meanwhile(() => {
            versions.push({ ...versions.at(-1)!, data: { type: id.type, username: "other", password: "2" } })
            server.keys.set(id.id, { ...server.keys.get(id.id)!, key: "MFRGGZDFMZTWQ2LK" })
          })
        )
      )
      yield* store.update(id, changed)
      expect(versions).toHaveLength(4)
      expect(kept(server, id)).toEqual(newState)
    }).pipe(Effect.provide(storage()))
  )

  it.effect.each(["UsernamePassword", "UsernamePasswordTotp"] as const)(
    "two updates of a %s that expect the same version: one is done, the other hears of it",
    (type) =>
      Effect.gen(function* () {
        const server = yield* Server
        const store = yield* CredentialStorage
        const id = yield* store.create("ApiKeys", samples[type])
        const versions = server.documents.get(`Credentials/ApiKeys/${id.id}`)!
        const other = { data: { type, username: "other", password: "2" }, created: "", deleted: "" }
        server.fault = first(
          1,
          when(
            "POST",
            keyValue,
            meanwhile(() => versions.push(other))
          )
        )
        const error = yield* Effect.flip(store.update(id, changedOf(type), { expectedVersion: 1 }))
        expect(error).toMatchObject({ _tag: "SecretVersionConflict", expected: 1, found: 2 })
        expect(versions.at(-1)).toBe(other)
        if (type === "UsernamePasswordTotp") expect(server.keys.get(id.id)!.key).toBe(oldState[1])
      }).pipe(Effect.provide(storage()))
  )

  it.effect("of the writers of two processes that expect the same version, one is done", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const one = yield* CredentialStorage
      const other = Context.get(yield* Layer.build(impatient), CredentialStorage)
      for (const type of ["UsernamePassword", "UsernamePasswordTotp"] as const) {
        const id = yield* one.create("ApiKeys", samples[type])
        const seeds = ["JBSWY3DPEHPK3PXP", "MFRGGZDFMZTWQ2LK", "KRSXG5CTMVRXEZLU", "NB2W45DFOIZAAAAA"]
        const written = seeds.map((seed, i) =>
          type === "UsernamePassword"
            ? { ...samples[type], username: `writer-${i}` }
            : { ...samples[type], username: `writer-${i}`, totp: { totpKey: { base32Key: Redacted.make(seed) } } }
        )
        const writes = written.map((secret, i) =>
          Effect.exit((i % 2 === 0 ? one : other).update(id, secret, { expectedVersion: 1 }))
        )
        const exits = yield* Effect.all(writes, { concurrency: "unbounded" })
        const done = exits.findIndex(Exit.isSuccess)
        expect(exits.filter(Exit.isSuccess)).toHaveLength(1)
        expect(kept(server, id)).toEqual([`writer-${done}`, type === "UsernamePasswordTotp" ? seeds[done] : undefined])
      }
    }).pipe(Effect.provide(storage()))
  )

  it.effect("an update that expects its version, and whose seed comes after that of a later one, is whole again", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", old)
      const versions = server.documents.get(`Credentials/ApiKeys/${id.id}`)!
      const overtake = () => {
        versions.push({ ...versions.at(-1)!, data: { type: id.type, username: "other", password: "2" } })
        server.keys.set(id.id, { ...server.keys.get(id.id)!, key: "MFRGGZDFMZTWQ2LK" })
      }
      server.fault = first(1, when("POST", totp, meanwhile(overtake)))
      yield* store.update(id, changed, { expectedVersion: 1 })
      expect(kept(server, id)).toEqual(newState)

      // Where the later one's seed came last, it stands.
      server.fault = first(
        1,
        when("POST", totp, (response, answer) => {
          const reply = answer()
          overtake()
          send(response, reply)
        })
      )
      yield* store.update(id, old, { expectedVersion: versions.length })
      expect(kept(server, id)).toEqual(["other", "MFRGGZDFMZTWQ2LK"])
    }).pipe(Effect.provide(storage()))
  )

  it.effect("a secret that is updated while it is restored is restored all the same, and a deleted one is not", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      yield* store.update(id, login("2"))
      const versions = server.documents.get(`Credentials/ApiKeys/${id.id}`)!
      const other = { data: { type: id.type, username: "other", password: "3" }, created: "", deleted: "" }
      const during = (change: () => void) => first(1, when("POST", keyValue, meanwhile(change)))
      server.fault = during(() => versions.push(other))
      yield* store.restore(id, 1)
      const passwords = versions.map(({ data }) => (data as { readonly password: string }).password)
      expect(passwords).toEqual(["1", "2", "3", "1"])

      server.fault = during(() => server.documents.clear())
      expect((yield* Effect.flip(store.restore(id, 2)))._tag).toBe("SecretNotFound")
      expect(server.documents.size).toBe(0)
    }).pipe(Effect.provide(storage()))
  )

  it.effect("an update that never gets its turn is unavailable, and changes nothing", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", old)
      const versions = server.documents.get(`Credentials/ApiKeys/${id.id}`)!
      server.fault = when(
        "POST",
        keyValue,
        meanwhile(() => versions.push({ ...versions.at(-1)! }))
      )
      const error = yield* Effect.flip(store.update(id, changed))
      expect(error).toMatchObject({ _tag: "SecretBackendUnavailable", reason: "other writers were faster 10 times" })
      expect(kept(server, id)).toEqual(oldState)
    }).pipe(Effect.provide(storage()))
  )

  it.effect.each([keyValue, totp])("a secret that is deleted before %s is written stays deleted", (engine) =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", old)
      server.fault = first(
        1,
        when(
          "POST",
          engine,
          meanwhile(() => {
            server.documents.clear()
            server.keys.clear()
          })
        )
      )
      expect((yield* Effect.flip(store.update(id, changed)))._tag).toBe("SecretNotFound")
      expect(server.documents.size + server.keys.size).toBe(0)
    }).pipe(Effect.provide(storage()))
  )

  it.effect.each([undefined, 403])("an update that comes into the midst of a delete leaves no seed behind", (status) =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", old)
      const versions = server.documents.get(`Credentials/ApiKeys/${id.id}`)!
      const { key, ...rest } = server.keys.get(id.id)!
      const update = meanwhile(() => {
        versions.push({ ...versions.at(-1)!, deleted: "" })
        server.keys.set(id.id, { ...rest, key })
      })
      const removals = [undefined, status === undefined ? undefined : refuse(status)]
      server.fault = (asked) => {
        if (asked.method !== "DELETE") return undefined
        if (asked.path.startsWith("credentials/metadata/")) return update
        return totp.test(asked.path) ? removals.shift() : undefined
      }
      expect((yield* Effect.exit(store.delete(id)))._tag).toBe(status === undefined ? "Success" : "Failure")
      expect(server.documents.size + server.keys.size).toBe(0)
    }).pipe(Effect.provide(storage()), withoutLog)
  )

  it.effect("64 writers of one secret in one process take turns", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("0"))
      const writes = Array.from({ length: 64 }, (_, i) => store.update(id, login(String(i))))
      yield* Effect.all(writes, { concurrency: "unbounded" })
      expect(server.documents.get(`Credentials/ApiKeys/${id.id}`)).toHaveLength(65)
    }).pipe(Effect.provide(storage()))
  )
})

const withoutLog = Effect.provide(Logger.layer([]))
