/** What can go wrong between the store and the server, each with the error that a caller sees. */
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Bucket } from "../../src/SecretStore/BucketSet.ts"
import { SecretBackend } from "../../src/SecretStore/SecretBackend.ts"
import * as SecretId from "../../src/SecretStore/SecretId.ts"
import type { SecretStorage } from "../../src/SecretStore/SecretStorage.ts"
import type { SecretStorageError } from "../../src/SecretStore/SecretStorageError.ts"
import { Credentials, CredentialStorage, login, samples } from "./support/Credentials.ts"
import { first, lose, refuse, reset, resetMidAnswer, say, silence, when } from "./support/server/faults.ts"
import type { Fault, StandIn } from "./support/server/StandIn.ts"
import { backend, Server, storage } from "./support/Server.ts"
import { aTurn } from "./support/until.ts"

/** The same store with little patience: repetitions take real time. */
const impatient = Layer.fresh(CredentialStorage.layer).pipe(
  Layer.provide(backend(() => ({ timeout: Duration.seconds(2) })))
)

const withoutLog = Effect.provide(Logger.layer([]))

const html = "<html><title>Bad gateway</title></html>"
const json = "application/json"
const big = Buffer.from(
  JSON.stringify({ data: { data: { type: "UsernamePassword", username: "x".repeat(10_000_000) } } })
)

/** Faults of every request, with what the error is and says. */
const faults = (
  [
    ["refused connections", "stopped", "SecretBackendUnavailable", /cannot be reached \(ECONNREFUSED\)/],
    ["a sealed server", "sealed", "SecretBackendUnavailable", /the server is sealed/],
    ["connections that break", reset, "SecretBackendUnavailable", /cannot be reached/],
    ["silence", silence, "SecretBackendUnavailable", /no answer within 2 seconds/],
    ["500", refuse(500), "SecretBackendUnavailable", /answered 500/],
    ["502 of a proxy", say(html, "text/html", 502), "SecretBackendUnavailable", /answered 502/],
    ["503 of a proxy", say(html, "text/html", 503), "SecretBackendUnavailable", /answered 503/],
    ["403", refuse(403, ["permission denied"]), "SecretAccessDenied", /permission denied/],
    ["403 of a proxy", say(html, "text/html", 403), "SecretAccessDenied", /permission denied/],
    ["412", refuse(412, ["required index state not present"]), "SecretBackendUnavailable", /answered 412/],
    ["429", refuse(429, ["request path rate limited"]), "SecretBackendUnavailable", /too many requests/],
    ["429 for a minute", refuse(429, [], { "retry-after": "60" }), "SecretBackendUnavailable", /too many requests/],
    ["404 of a proxy", say(html, "text/html", 404), "SecretBackendUnavailable", /answered 404/],
    ["404 without a body", say("", "text/plain", 404), "SecretBackendUnavailable", /answered 404/],
    [
      "404 for a missing mount",
      refuse(404, ["no handler for route"]),
      "SecretBackendUnavailable",
      /no engine is mounted/
    ],
    ["a page instead of JSON", say(html, "text/html"), "SecretBackendUnavailable", /text\/html instead of JSON/],
    ["JSON without its type", say("{}", "text/plain"), "SecretBackendUnavailable", /text\/plain instead of JSON/],
    ["truncated JSON", say('{"data":{"data":{"ty', json), "SecretBackendUnavailable", /breaks off/],
    ["a redirection", say("", json, 307), "SecretBackendUnavailable", /answered 307/],
    // A list of many ids may be as long; this one is no list.
    ["10 MB", say(big, json), "SecretBackendUnavailable", /longer than 4194304 bytes|not one of a key-value engine/]
  ] satisfies ReadonlyArray<readonly [string, Fault | "stopped" | "sealed", string, RegExp]>
).map(([name, fault, tag, reason]) => ({ name, fault, tag, reason }))

const strike = (server: StandIn, fault: Fault | "stopped" | "sealed") =>
  Effect.promise(async () => {
    if (fault === "stopped") await server.stop()
    else if (fault === "sealed") server.state = "sealed"
    else server.fault = () => fault
  })

const recover = (server: StandIn) =>
  Effect.promise(async () => {
    server.fault = () => undefined
    server.state = "active"
    await server.stop()
    await server.start()
  })

type Id = SecretId.SecretId<Bucket<typeof Credentials>>

/** All that a storage can do with a secret. */
const operations: ReadonlyArray<
  (storage: SecretStorage<Bucket<typeof Credentials>>, id: Id) => Effect.Effect<unknown, SecretStorageError>
> = [
  (storage, id) => storage.get(id),
  (storage, { type }) => storage.create("ApiKeys", samples[type]),
  (storage, id) => storage.update(id, samples[id.type]),
  (storage, id) => storage.update(id, samples[id.type], { expectedVersion: 1 }),
  (storage, id) => storage.delete(id),
  (storage) => Stream.runCollect(storage.list("ApiKeys")),
  (storage, id) => storage.exists(id),
  (storage, id) => storage.metadata(id),
  (storage, id) => storage.history(id),
  (storage, id) => storage.restore(id, 1)
]

describe.concurrent("SecretServer", () => {
  it.live.each(faults)("$name: every operation fails, and changes nothing", ({ fault, reason, tag }) =>
    Effect.gen(function* () {
      const server = yield* Server
      const patient = yield* CredentialStorage
      const types = ["UsernamePassword", "UsernamePasswordTotp"] as const
      const subjects = types.flatMap((type) => operations.map((operation) => ({ type, operation })))
      // Each has a secret of its own, since changes of one take turns.
      const ids = yield* Effect.forEach(subjects, ({ type }) => patient.create("ApiKeys", samples[type]), {
        concurrency: 8
      })
      const stored = () => structuredClone([[...server.documents], [...server.keys]])
      const before = stored()
      yield* strike(server, fault)
      const store = Context.get(yield* Layer.build(impatient), CredentialStorage)
      const failing = subjects.map(({ operation }, i) => Effect.flip(operation(store, ids[i]!)))
      const errors = yield* Effect.all(failing, { concurrency: "unbounded" })
      for (const error of errors) {
        expect(error._tag).toBe(tag)
        expect(error.message).toMatch(reason)
      }
      yield* recover(server)
      expect(stored()).toEqual(before)
      for (const id of ids) yield* patient.get(id)
    }).pipe(Effect.provide(storage()), withoutLog)
  )

  it.live.each([
    { name: "refused connections", fault: "stopped", mayBeDone: false },
    { name: "a sealed server", fault: "sealed", mayBeDone: false },
    { name: "429", fault: refuse(429), mayBeDone: false },
    { name: "404 for a missing mount", fault: refuse(404, ["no handler for route"]), mayBeDone: false },
    { name: "silence", fault: silence, mayBeDone: true },
    { name: "connections that break", fault: reset, mayBeDone: true },
    { name: "500", fault: refuse(500), mayBeDone: true },
    { name: "a page instead of JSON", fault: say(html, "text/html"), mayBeDone: true }
  ] as const)("$name: the error tells whether the server may have done it", ({ fault, mayBeDone }) =>
    Effect.gen(function* () {
      yield* strike(yield* Server, fault)
      const store = Context.get(yield* Layer.build(impatient), CredentialStorage)
      const error = yield* Effect.flip(store.create("ApiKeys", login("1")))
      expect(error).toMatchObject({ _tag: "SecretBackendUnavailable", mayBeDone })
    }).pipe(Effect.provide(storage()), withoutLog)
  )

  it.live.each([
    ["a connection that breaks", reset],
    ["a connection that breaks in the answer", resetMidAnswer],
    ["an answer that is lost", lose],
    ["500", refuse(500)],
    ["502", refuse(502)],
    ["503", refuse(503)],
    ["412", refuse(412)],
    ["429", refuse(429)],
    ["429 for no time", refuse(429, [], { "retry-after": "0" })]
  ] as const)("%s: the request is repeated, and done once", ([, fault]) =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const strikeOnce = (method: string) => (server.fault = first(1, when(method, /^(credentials|totp)\//, fault)))
      for (const type of ["UsernamePassword", "UsernamePasswordTotp"] as const) {
        strikeOnce("POST")
        const id = yield* store.create("ApiKeys", samples[type])
        strikeOnce("POST")
        yield* store.update(id, { ...samples[type], username: "grace" })
        strikeOnce("POST")
        yield* store.update(id, { ...samples[type], username: "grace" }, { expectedVersion: 2 })
        strikeOnce("POST")
        yield* store.restore(id, 3)
        expect(server.documents.get(`Credentials/ApiKeys/${id.id}`)).toHaveLength(4)
        strikeOnce("GET")
        expect(yield* store.get(id)).toMatchObject({ username: "grace" })
        strikeOnce("GET")
        expect(yield* Stream.runCollect(store.list("ApiKeys"))).toEqual([id])
        strikeOnce("GET")
        expect((yield* store.metadata(id)).version).toBe(4)
        strikeOnce("DELETE")
        yield* store.delete(id)
        expect(server.documents.size).toBe(0)
        expect(server.keys.size).toBe(0)
      }
    }).pipe(Effect.provide(storage()))
  )

  it.effect("30 seconds of silence: every operation has failed, and changed nothing", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const ids = yield* Effect.forEach(operations, () => store.create("ApiKeys", samples.UsernamePasswordTotp))
      const before = structuredClone([[...server.documents], [...server.keys]])
      server.fault = () => silence
      const fibers = yield* Effect.forEach(operations, (operation, i) =>
        Effect.forkChild(Effect.exit(operation(store, ids[i]!)))
      )
      for (let second = 0; second < 30; second++) {
        // What is asked has come to the server by then, so that it is the server's silence that is waited for.
        yield* aTurn
        yield* TestClock.adjust("1 second")
      }
      for (const fiber of fibers) {
        const error = yield* Effect.flip(Effect.flatten(Fiber.join(fiber)))
        expect(error).toMatchObject({ _tag: "SecretBackendUnavailable" })
        expect(error.message).toContain("it gave no answer within 10 seconds")
      }
      expect([[...server.documents], [...server.keys]]).toEqual(before)
    }).pipe(Effect.provide(storage()), withoutLog)
  )

  it.effect("a list of more secrets than fit into a page is whole, and a longer answer than any list is none", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const backend = yield* SecretBackend
      const id = yield* store.create("ApiKeys", login("1"))
      const document = server.documents.get(`Credentials/ApiKeys/${id.id}`)!
      const add = (text: string) => server.documents.set(`Credentials/ApiKeys/${text}`, document)
      const expected = new Set([id.id])
      while (expected.size < 2500) {
        const { id: text } = yield* SecretId.generate(Credentials, "ApiKeys", "Certificate")
        expected.add(text)
        add(text)
      }
      // What others keep there is passed over.
      for (const text of ["stray", "folder/below", "id with spaces & signs?"]) add(text)
      const other = yield* SecretId.generate(Credentials, "ServiceAccounts", "Certificate")
      add(other.id)
      for (const [paged, requests] of [
        [true, 3],
        [false, 1]
      ] as const) {
        server.flavour.pages = paged
        const served = server.served.length
        const ids = yield* Stream.runCollect(store.list("ApiKeys"))
        expect(ids).toHaveLength(2500)
        expect(new Set(ids.map(({ id }) => id))).toEqual(expected)
        expect(server.served.length - served).toBe(requests)
      }
      // As many as a page has, of a server that knows no pages.
      for (const path of [...server.documents.keys()].slice(1000)) server.documents.delete(path)
      expect(yield* Stream.runCollect(store.list("ApiKeys"))).toHaveLength(1000)

      server.fault = () => say(JSON.stringify({ data: { keys: ["x".repeat(34_000_000)] }, warnings: null }), json)
      const error = yield* Effect.flip(backend.list(Credentials, "ApiKeys", Option.none()))
      expect(error.message).toContain("longer than 33554432 bytes")
    }).pipe(Effect.provide(storage()))
  )

  it.effect("a page that is none is no empty list", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      for (const body of ["{}", "null", '{"data":null}', '{"data":{}}', '{"data":{},"warnings":null}']) {
        server.fault = () => say(body, json)
        const error = yield* Effect.flip(Stream.runCollect(store.list("ApiKeys")))
        expect(error._tag).toBe("SecretBackendUnavailable")
      }
    }).pipe(Effect.provide(storage()))
  )

  it.live("waits as long as the server asks", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      server.fault = first(1, () => refuse(429, [], { "retry-after": "1" }))
      const started = performance.now()
      yield* store.get(id)
      expect(performance.now() - started).toBeGreaterThanOrEqual(990)
    }).pipe(Effect.provide(storage()))
  )

  it.live("does not repeat what would only fail again", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      for (const fault of [refuse(400), refuse(405), refuse(501), say(html, "text/html"), say(big, json)]) {
        server.fault = () => fault
        const served = server.served.length
        expect((yield* Effect.flip(store.get(id)))._tag).toBe("SecretBackendUnavailable")
        expect(server.served.length - served).toBe(1)
      }
    }).pipe(Effect.provide(storage()))
  )

  it.effect("what is stored under an id, but is no secret of its type, is corrupt", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("canary"))
      for (const document of [
        {},
        null,
        "canary",
        { type: "UsernamePassword", username: "canary" },
        { type: "canary" },
        { type: "Certificate", certificate: "canary" },
        { ...samples.UsernamePasswordApiKey, password: "canary", apiKey: "canary" }
      ]) {
        server.fault = () => say(JSON.stringify({ data: { data: document, metadata: { version: 1 } } }), json)
        const error = yield* Effect.flip(store.get(id))
        expect(error).toMatchObject({ _tag: "SecretCorrupt", id: id.id })
        expect(error.message).not.toContain("canary")
      }
      for (const body of ["{}", "null", "[]", '{"data":null}', '{"data":{"data":{}}}']) {
        server.fault = () => say(body, json)
        expect((yield* Effect.flip(store.get(id)))._tag).toBe("SecretBackendUnavailable")
      }
    }).pipe(Effect.provide(storage()))
  )

  it.effect("a secret whose seed is gone is corrupt, and one that is gone with it is not there", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", samples.UsernamePasswordTotp)
      server.keys.clear()
      expect(yield* Effect.flip(store.get(id))).toMatchObject({ _tag: "SecretCorrupt", id: id.id })
      server.fault = when("GET", /^totp/, (response, answer) => {
        server.documents.clear()
        say(JSON.stringify(answer().body), json, 400)(response, answer)
      })
      expect((yield* Effect.flip(store.get(id)))._tag).toBe("SecretNotFound")
    }).pipe(Effect.provide(storage()))
  )

  it.effect("one that is deleted by other means, version by version, is not there, and stays away", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      server.documents.get(`Credentials/ApiKeys/${id.id}`)!.at(-1)!.deleted = "1970-01-01T00:00:00Z"
      expect((yield* Effect.flip(store.get(id)))._tag).toBe("SecretNotFound")
      expect((yield* Effect.flip(store.update(id, login("2"))))._tag).toBe("SecretNotFound")
      expect(yield* store.exists(id)).toBe(false)
      expect((yield* Effect.flip(store.metadata(id)))._tag).toBe("SecretNotFound")
      expect((yield* Effect.flip(store.history(id)))._tag).toBe("SecretNotFound")
      expect((yield* Effect.flip(store.restore(id, 1)))._tag).toBe("SecretNotFound")
      yield* store.delete(id)
      expect(server.documents.size).toBe(0)
    }).pipe(Effect.provide(storage()))
  )

  it.effect("a version that is deleted by other means is no more in the history, and cannot be restored", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      yield* store.update(id, login("2"))
      yield* store.update(id, login("3"))
      const versions = server.documents.get(`Credentials/ApiKeys/${id.id}`)!
      versions[0]!.deleted = "2020-01-01T00:00:00.123456789Z"
      // One that will be, some day.
      versions[1]!.deleted = "2120-01-01T00:00:00.123456789Z"
      yield* TestClock.setTime(Date.UTC(2030, 0))
      expect((yield* store.history(id)).map(({ version }) => version)).toEqual([3, 2])
      expect((yield* Effect.flip(store.restore(id, 1)))._tag).toBe("SecretVersionNotFound")
    }).pipe(Effect.provide(storage()))
  )

  it.effect("an earlier version that is no secret of the id's type is not restored", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      const versions = server.documents.get(`Credentials/ApiKeys/${id.id}`)!
      versions.unshift({ data: { type: "Certificate" }, created: "", deleted: "" })
      expect(yield* Effect.flip(store.restore(id, 1))).toMatchObject({ _tag: "SecretCorrupt", id: id.id })
      expect(versions).toHaveLength(2)
    }).pipe(Effect.provide(storage()))
  )

  it.effect("what the server says of a body stays in the store", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const id = yield* SecretId.generate(Credentials, "ApiKeys", "UsernamePasswordTotp")
      const backend = yield* SecretBackend
      server.fault = when("POST", /^totp/, refuse(400, ["invalid key value: canary-seed"]))
      const error = yield* Effect.flip(backend.create({ bucketSet: "Credentials", id }, samples.UsernamePasswordTotp))
      expect(error.message).toBe("The secret backend could not create a secret: it answered 400")
      expect(Option.isNone(yield* backend.get({ bucketSet: "Credentials", id }))).toBe(true)
    }).pipe(Effect.provide(storage()))
  )
})
