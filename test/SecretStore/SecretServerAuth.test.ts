/** How the store gets its token, keeps it, and gets another. Time is the test's. */
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import * as fs from "node:fs"
import * as path from "node:path"
import type { SecretServerOptions } from "../../src/SecretStore/SecretServerOptions.ts"
import { CredentialStorage, login } from "./support/Credentials.ts"
import { temporaryDirectory } from "./support/Files.ts"
import { refuse, reset, when } from "./support/server/faults.ts"
import type { StandIn } from "./support/server/StandIn.ts"
import { backend, Server } from "./support/Server.ts"
import { aTurn, until } from "./support/until.ts"

type Auth = SecretServerOptions["auth"]

/**
 * A storage that authenticates in the given way, for as long as the scope lasts. Its requests take real time, while the
 * test's jumps: they must not time out by that.
 */
const storeWith = (auth: Auth, namespace?: string) =>
  Layer.build(
    Layer.provide(
      CredentialStorage.layer,
      backend(() => ({ auth, namespace, timeout: Duration.days(1000) }))
    )
  ).pipe(Effect.map((context) => Context.get(context, CredentialStorage)))

const userpass: Auth = { method: "userpass", mount: "userpass", username: "ada", password: Redacted.make("canary-1") }

const accept = (server: StandIn, path: string, body: Record<string, unknown>) =>
  server.tokens.accounts.push({ path, accepts: (given) => JSON.stringify(given) === JSON.stringify(body) })

const acceptAda = (server: StandIn) => accept(server, "auth/userpass/login/ada", { password: "canary-1" })

const count = (server: StandIn, path: string) => server.served.filter((request) => request.path === path).length

const logins = "auth/userpass/login/ada"
const renewals = "auth/token/renew-self"

describe("A token of the configuration", () => {
  it.effect("goes with each request; nothing else asks for it", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* storeWith({ method: "token", token: Redacted.make(server.root) })
      yield* store.get(yield* store.create("ApiKeys", login("1")))
      expect(server.served.map(({ headers }) => headers["x-vault-token"])).toEqual([server.root, server.root])
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("that is revoked is reported by every operation, each asking once", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* storeWith({ method: "token", token: Redacted.make(server.root) })
      const id = yield* store.create("ApiKeys", login("1"))
      server.tokens.tokens.delete(server.root)
      const served = server.served.length
      for (const operation of [store.get(id), store.delete(id)]) {
        const error = yield* Effect.flip(operation)
        expect(error).toMatchObject({ _tag: "SecretAccessDenied" })
        expect(error.message).not.toContain("canary")
      }
      expect(server.served.length - served).toBe(2)
    }).pipe(Effect.provide(Server.layer))
  )
})

describe("A token file", () => {
  it.effect("is read again when it changes", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const file = path.join(yield* temporaryDirectory, "token")
      fs.writeFileSync(file, `${server.root}\n`)
      const store = yield* storeWith({ method: "tokenFile", file })
      const id = yield* store.create("ApiKeys", login("1"))
      const other = server.tokens.issue().id
      fs.writeFileSync(file, other)
      yield* store.get(id)
      expect(server.served.map(({ headers }) => headers["x-vault-token"])).toEqual([server.root, other])
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("that changes while a request is under way counts for a refused one", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const file = path.join(yield* temporaryDirectory, "token")
      fs.writeFileSync(file, server.root)
      const store = yield* storeWith({ method: "tokenFile", file })
      const id = yield* store.create("ApiKeys", login("1"))
      server.tokens.tokens.delete(server.root)
      expect((yield* Effect.flip(store.get(id)))._tag).toBe("SecretAccessDenied")
      server.fault = () => {
        server.fault = () => undefined
        fs.writeFileSync(file, server.tokens.issue().id)
        return undefined
      }
      yield* store.get(id)
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect.each([["missing"], ["empty", " \n"], ["two lines", "a\nb"]])("that is %s is unavailable", ([, text]) =>
    Effect.gen(function* () {
      const file = path.join(yield* temporaryDirectory, "token")
      if (text !== undefined) fs.writeFileSync(file, text)
      const store = yield* storeWith({ method: "tokenFile", file })
      const error = yield* Effect.flip(store.create("ApiKeys", login("1")))
      expect(error._tag).toBe("SecretBackendUnavailable")
      expect(error.message).toContain(file)
    }).pipe(Effect.provide(Server.layer))
  )
})

describe("A login", () => {
  it.effect.each(["appRole", "kubernetes", "userpass"] as const)("by %s gets a token, in the namespace", (method) =>
    Effect.gen(function* () {
      const server = yield* Server
      const file = path.join(yield* temporaryDirectory, "jwt")
      fs.writeFileSync(file, "canary-jwt\n")
      const secret = Redacted.make("canary-1")
      accept(server, "auth/team/approle/login", { role_id: "store", secret_id: "canary-1" })
      accept(server, "auth/team/kubernetes/login", { role: "store", jwt: "canary-jwt" })
      accept(server, "auth/team/userpass/login/a b", { password: "canary-1" })
      const auth: Auth = {
        appRole: { method: "appRole", mount: "team/approle", roleId: "store", secretId: secret } as const,
        kubernetes: {
          method: "kubernetes",
          mount: "team/kubernetes",
          role: "store",
          serviceAccountTokenFile: file
        } as const,
        userpass: { method: "userpass", mount: "team/userpass", username: "a b", password: secret } as const
      }[method]
      const store = yield* storeWith(auth, "admin/team")
      yield* store.create("ApiKeys", login("1"))
      expect(server.served).toHaveLength(2)
      for (const { headers } of server.served) expect(headers["x-vault-namespace"]).toBe("admin/team")
      expect(server.served[0]!.headers["x-vault-token"]).toBeUndefined()
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("of a role without a secret id sends none", () =>
    Effect.gen(function* () {
      const server = yield* Server
      accept(server, "auth/approle/login", { role_id: "store" })
      const secretId = Redacted.make("")
      const store = yield* storeWith({ method: "appRole", mount: "approle", roleId: "store", secretId })
      yield* store.create("ApiKeys", login("1"))
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("begins at the start, and requests that come meanwhile share it", () =>
    Effect.gen(function* () {
      const server = yield* Server
      acceptAda(server)
      const store = yield* storeWith(userpass)
      yield* until(() => count(server, logins) === 1)
      yield* Effect.all(
        Array.from({ length: 32 }, () => store.create("ApiKeys", login("1"))),
        { concurrency: "unbounded" }
      )
      expect(count(server, logins)).toBe(1)
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("that is refused is told, and not repeated for 10 seconds", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const store = yield* storeWith(userpass)
      accept(server, logins, { password: "another" })
      for (let i = 0; i < 5; i++) {
        const error = yield* Effect.flip(store.create("ApiKeys", login("1")))
        expect(error).toMatchObject({ _tag: "SecretAccessDenied", operation: "log in by userpass" })
        expect(error.message).not.toContain("canary")
      }
      expect(count(server, logins)).toBe(1)
      server.tokens.accounts.length = 0
      acceptAda(server)
      yield* TestClock.adjust("10 seconds")
      yield* store.create("ApiKeys", login("1"))
      expect(count(server, logins)).toBe(2)
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("waits for a server that is away at the start", () =>
    Effect.gen(function* () {
      const server = yield* Server
      acceptAda(server)
      server.fault = when("POST", /login/, refuse(501))
      yield* storeWith(userpass)
      yield* until(() => count(server, logins) === 1)
      server.fault = () => undefined
      // How often the repeating comes to it, the server's answers decide; that it does, the end of the test.
      yield* Effect.raceFirst(
        until(() => server.tokens.tokens.size === 2),
        Effect.forever(Effect.andThen(TestClock.adjust("1 second"), aTurn))
      )
    }).pipe(Effect.provide(Server.layer))
  )
})

describe("A token of a login", () => {
  const started = Effect.gen(function* () {
    const server = yield* Server
    acceptAda(server)
    const store = yield* storeWith(userpass)
    const id = yield* store.create("ApiKeys", login("1"))
    const token = () => server.served.at(-1)!.headers["x-vault-token"]
    return { server, get: store.get(id), token }
  })

  it.effect("is renewed when about half of its time is over, again and again", () =>
    Effect.gen(function* () {
      const { get, server, token } = yield* started
      const first = token()
      yield* TestClock.adjust("26 minutes")
      yield* get
      expect(count(server, renewals)).toBe(0)
      yield* TestClock.adjust("8 minutes")
      for (let i = 1; i <= 20; i++) {
        yield* until(() => count(server, renewals) === i)
        // When this is answered, so is what was asked before.
        yield* get
        expect(token()).toBe(first)
        yield* TestClock.adjust("34 minutes")
      }
      expect(count(server, logins)).toBe(1)
    }).pipe(Effect.provide(Server.layer))
  )

  const troubles: ReadonlyArray<readonly [string, (server: StandIn) => void]> = [
    ["is refused", (server) => void (server.fault = when("POST", /renew/, refuse(403)))],
    ["gives little, since the longest life is near", (server) => void (server.tokens.grant.maxTtl = 3700)],
    ["is not to be had", (server) => void (server.tokens.grant.renewable = false)]
  ]

  it.effect.each(troubles)("is replaced by another login well before its end where renewal %s", ([, prepare]) =>
    Effect.gen(function* () {
      const server = yield* Server
      prepare(server)
      const { get, token } = yield* started
      const first = token()
      yield* TestClock.adjust("34 minutes")
      yield* until(() => server.tokens.tokens.size === 3)
      yield* get
      yield* get
      expect(token()).not.toBe(first)
      expect(count(server, logins)).toBe(2)
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("that the server forgot is replaced by a login, and the request repeated once", () =>
    Effect.gen(function* () {
      const { get, server, token } = yield* started
      server.tokens.tokens.delete(String(token()))
      const served = server.served.length
      yield* get
      expect(
        server
          .paths()
          .slice(served)
          .map((it) => it.replace(/Keys\/.*/, "Keys/…"))
      ).toEqual([
        "GET credentials/data/Credentials/ApiKeys/…",
        "GET auth/token/lookup-self",
        `POST ${logins}`,
        "GET credentials/data/Credentials/ApiKeys/…"
      ])
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("that many requests find forgotten is replaced by one login", () =>
    Effect.gen(function* () {
      const { get, server, token } = yield* started
      server.tokens.tokens.delete(String(token()))
      yield* Effect.all(
        Array.from({ length: 64 }, () => get),
        { concurrency: "unbounded" }
      )
      expect(count(server, logins)).toBe(2)
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("that ended while nothing could renew it is replaced at the next request", () =>
    Effect.gen(function* () {
      const { get, server } = yield* started
      server.fault = when("POST", /renew/, reset)
      yield* TestClock.adjust("2 hours")
      server.fault = () => undefined
      yield* get
      expect(count(server, logins)).toBe(2)
    }).pipe(Effect.provide(Server.layer), Effect.provide(Logger.layer([])))
  )

  it.effect("that is good, but not for this, is not replaced", () =>
    Effect.gen(function* () {
      const { get, server } = yield* started
      server.fault = when("GET", /^credentials/, refuse(403))
      for (let i = 0; i < 3; i++) expect((yield* Effect.flip(get))._tag).toBe("SecretAccessDenied")
      expect(count(server, logins)).toBe(1)
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("that does not end is left alone", () =>
    Effect.gen(function* () {
      const server = yield* Server
      server.tokens.grant.ttl = 0
      const { get } = yield* started
      yield* TestClock.adjust("365 days")
      yield* get
      expect(server.paths().filter((it) => it.includes("auth/"))).toEqual([`POST ${logins}`])
    }).pipe(Effect.provide(Server.layer))
  )
})
