/** What goes over the wire when all is well. */
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as TestClock from "effect/testing/TestClock"
import { CredentialStorage, login, samples, seed } from "./support/Credentials.ts"
import { first, silence, when } from "./support/server/faults.ts"
import { send } from "./support/server/StandIn.ts"
import { Server, storage } from "./support/Server.ts"
import { until } from "./support/until.ts"
import { revealed } from "./SecretStorageTest.ts"

describe("SecretServer's requests", () => {
  it.effect("carry the server's headers, and JSON", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", samples.UsernamePasswordTotp)
      yield* store.get(id)
      yield* store.update(id, samples.UsernamePasswordTotp)
      yield* store.delete(id)
      for (const { headers, method } of server.served) {
        expect(headers).toMatchObject({
          "x-vault-token": server.root,
          "x-vault-request": "true",
          accept: "application/json"
        })
        expect(headers["content-type"]).toBe(method === "POST" ? "application/json" : undefined)
        expect(headers).not.toHaveProperty("x-vault-namespace")
      }
      expect(new Set(server.served.map(({ method }) => method))).toEqual(new Set(["GET", "POST", "DELETE"]))
    }).pipe(Effect.provide(storage()))
  )

  it.effect("carry the namespace where one is set", () =>
    Effect.gen(function* () {
      const server = yield* Server
      yield* (yield* CredentialStorage).create("ApiKeys", login("1"))
      expect(server.served.map(({ headers }) => headers["x-vault-namespace"])).toEqual(["admin/team"])
    }).pipe(Effect.provide(storage(() => ({ namespace: "admin/team" }))))
  )

  it.effect("go below the path of the base URL", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const error = yield* Effect.flip((yield* CredentialStorage).create("ApiKeys", login("1")))
      expect(error._tag).toBe("SecretBackendUnavailable")
      expect(server.served[0]!.path).toMatch(/^\/vault\/v1\/credentials\/data\/Credentials\/ApiKeys\/\w+$/)
    }).pipe(Effect.provide(storage((server) => ({ url: new URL("/vault/", server.url) }))))
  )

  it.effect("use few connections again and again", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      for (let i = 0; i < 50; i++) yield* store.get(id)
      expect(new Set(server.served.map(({ socket }) => socket)).size).toBeLessThanOrEqual(3)
    }).pipe(Effect.provide(storage()))
  )

  it.live("end where nobody waits for them any more: the fiber is interrupted, or the time is over", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      server.fault = () => silence
      const before = server.served.length
      const fiber = yield* Effect.forkChild(store.get(id))
      yield* until(() => server.served.length === before + 1)
      expect(server.served.at(-1)!.socket.destroyed).toBe(false)
      yield* Fiber.interrupt(fiber)
      yield* until(() => server.served.at(-1)!.socket.destroyed)

      const error = yield* Effect.flip(store.get(id))
      expect(error.message).toContain("it gave no answer within 0.5 seconds")
      expect(server.served.length).toBe(before + 2)
      yield* until(() => server.served.at(-1)!.socket.destroyed)
    }).pipe(Effect.provide(storage(() => ({ timeout: Duration.millis(500) }))))
  )

  it.effect("count as outgoing ones, by method and status", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      yield* store.get(id)
      yield* store.get(id)
      yield* store.delete(id)
      yield* Effect.flip(store.get(id))
      const snapshots = yield* Metric.snapshot
      const counted = snapshots.flatMap((snapshot) => {
        if (snapshot.id !== "http.client.request.duration" || snapshot.type !== "Histogram") return []
        expect(snapshot.attributes).toMatchObject({ "server.address": "127.0.0.1", "server.port": `${server.port}` })
        const { "http.request.method": method, "http.response.status_code": status } = snapshot.attributes!
        return [`${snapshot.state.count} ${method} ${status}`]
      })
      expect(counted.toSorted()).toEqual(["1 DELETE 204", "1 GET 404", "1 POST 200", "2 GET 200"])
    }).pipe(Effect.provide(storage()), Effect.provideContext(Context.make(Metric.MetricRegistry, new Map())))
  )

  it.effect("put the fields and the seed where policies can tell them apart, and the seed nowhere else", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ServiceAccounts", samples.UsernamePasswordTotp)
      expect(server.paths()).toEqual([
        `POST credentials/data/Credentials/ServiceAccounts/${id.id}`,
        `POST totp/keys/${id.id}`
      ])
      expect(server.served.map(({ body }) => body)).toEqual([
        {
          data: { type: "UsernamePasswordTotp", username: "ada", password: "canary-password" },
          options: { cas: 0 }
        },
        { key: seed, issuer: "layerhost", account_name: "ada", period: 30, algorithm: "SHA1", digits: 6 }
      ])
      yield* store.update(id, samples.UsernamePasswordTotp)
      yield* store.get(id)
      yield* store.delete(id)
      for (const { body, path } of server.served) {
        expect(JSON.stringify(body).includes(seed)).toBe(path.startsWith("totp/keys/") && body["key"] !== undefined)
      }
    }).pipe(Effect.provide(storage()))
  )

  it.effect("to delete remove every version, and the seed", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      yield* store.update(id, login("2"))
      server.served.length = 0
      yield* store.delete(id)
      expect(server.paths()).toEqual([`DELETE credentials/metadata/Credentials/ApiKeys/${id.id}`])
      expect(server.documents.size).toBe(0)
    }).pipe(Effect.provide(storage()))
  )
})

describe("What the server says of an error", () => {
  it.effect("is told without the token, wherever a proxy on the way quotes it, and without any other", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      const other = "hvs.CAESIJ0canaryCanaryCanary"
      const errors = [`bad header X-Vault-Token=${server.root}, cached ${other} for /v1/credentials`]
      server.fault = when("GET", /^credentials/, (response) => send(response, { status: 400, body: { errors } }))
      const error = yield* Effect.flip(store.get(id))
      expect(error.message).toContain("it answered 400: bad header X-Vault-Token=***, cached *** for /v1/credentials")
    }).pipe(Effect.provide(storage()))
  )
})

describe("The code of a one-time password", () => {
  it.effect.each([true, false])("belongs to the period of its expiry, also over a boundary (times told: %s)", (timed) =>
    Effect.gen(function* () {
      const server = yield* Server
      server.flavour.timesCodes = timed
      const store = yield* CredentialStorage
      yield* TestClock.setTime(59_000)
      const id = yield* store.create("ApiKeys", samples.UsernamePasswordTotp)
      const answers: Array<unknown> = []
      server.fault = first(
        1,
        when("GET", /^totp\/code/, (response, answer) => {
          const late = answer()
          answers.push(late)
          // The code was made at 59 seconds, and arrives at 61.
          void Effect.runPromise(clock.adjust("2 seconds")).then(() => send(response, late))
        })
      )
      const clock = yield* TestClock.testClockWith((clock) => Effect.succeed(clock))
      expect(revealed(yield* store.get(id))).toMatchObject({
        totp: { totpCode: { code: "359152", remainingSeconds: 29, validTillUtc: DateTime.makeUnsafe(90_000) } }
      })
      expect(answers).toHaveLength(1)
    }).pipe(Effect.provide(storage()))
  )

  it.effect("goes by the server's clock, where that differs", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* CredentialStorage
      yield* TestClock.setTime(1_000_000)
      const id = yield* store.create("ApiKeys", samples.UsernamePasswordTotp)
      server.fault = when("GET", /^totp\/code/, (response) =>
        send(response, {
          status: 200,
          body: { data: { code: "287082", generated: 59, expire_time: 60, period: "30s" } }
        })
      )
      expect(revealed(yield* store.get(id))).toMatchObject({
        totp: { totpCode: { code: "287082", remainingSeconds: 1, validTillUtc: DateTime.makeUnsafe(60_000) } }
      })
    }).pipe(Effect.provide(storage()))
  )
})
