import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import { SecretBackend } from "../../src/SecretStore/SecretBackend.ts"
import type { SecretServerOptions } from "../../src/SecretStore/SecretServerOptions.ts"
import { refuse, reset, say, silence, when } from "./support/server/faults.ts"
import type { State } from "./support/server/StandIn.ts"
import { backend, Server } from "./support/Server.ts"
import { until } from "./support/until.ts"

/** Runs the check once, over a stand-in that the test has prepared. */
const probe = (change: Partial<SecretServerOptions> = {}) =>
  SecretBackend.use(({ healthChecks }) => healthChecks[0]!.check).pipe(
    Effect.orDie,
    Effect.provide(Layer.fresh(backend(() => change)))
  )

const at = "The secret server at http://127.0.0.1:PORT"

/** A check's result with the port taken out. */
const told = Effect.fnUntraced(function* (change?: Partial<SecretServerOptions>) {
  const { port } = yield* Server
  const { description, status } = yield* probe(change)
  return [status, description?.replaceAll(`:${port}`, ":PORT")]
})

describe("secretstore", () => {
  it.effect("is a readiness check", () =>
    Effect.gen(function* () {
      const { healthChecks } = yield* SecretBackend
      expect(healthChecks).toMatchObject([{ name: "secretstore", tags: ["readiness"] }])
    }).pipe(Effect.provide(backend()), Effect.provide(Server.layer))
  )

  it.effect.each<readonly [State, string, string]>([
    ["active", "Healthy", `${at} is active`],
    ["standby", "Degraded", `${at} is a standby`],
    ["drStandby", "Degraded", `${at} is a disaster recovery standby`],
    ["performanceStandby", "Degraded", `${at} is a performance standby`],
    ["uninitialised", "Unhealthy", `${at} is not initialised`],
    ["sealed", "Unhealthy", `${at} is sealed`]
  ])("tells a server that is %s", ([state, ...result]) =>
    Effect.gen(function* () {
      const server = yield* Server
      server.state = state
      expect(yield* told()).toEqual(result)
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("asks for the server's state without token and namespace", () =>
    Effect.gen(function* () {
      const server = yield* Server
      yield* told({ namespace: "team" })
      const [health, ...others] = server.served
      expect(health).toMatchObject({ method: "GET", path: "sys/health" })
      expect(health!.headers["x-vault-token"]).toBeUndefined()
      expect(health!.headers["x-vault-namespace"]).toBeUndefined()
      expect(others.length).toBeGreaterThan(0)
      for (const { headers } of others) expect(headers["x-vault-namespace"]).toBe("team")
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("tells a server that is unreachable, and why", () =>
    Effect.gen(function* () {
      const server = yield* Server
      server.fault = () => reset
      expect(yield* told()).toEqual([
        "Unhealthy",
        expect.stringContaining(`${at} is unreachable: it cannot be reached`)
      ])
      server.fault = () => say("<html>", "text/html")
      expect(yield* told()).toEqual(["Unhealthy", `${at} is unreachable: it answered with text/html instead of JSON`])
      server.fault = () => say("<html>", "text/html", 503)
      expect(yield* told()).toEqual(["Unhealthy", `${at} is not available: it answered 503`])
      server.fault = () => refuse(500)
      expect(yield* told()).toEqual(["Unhealthy", `${at} is not available: it answered 500: internal error`])
      yield* Effect.promise(() => server.stop())
      expect(yield* told()).toEqual(["Unhealthy", `${at} is unreachable: it cannot be reached (ECONNREFUSED)`])
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect.each([/sys\/health/, /lookup-self/, /mounts/])(
    "waits 4.5 seconds for a server that is silent to %s",
    (path) =>
      Effect.gen(function* () {
        const server = yield* Server
        server.fault = when("GET", path, silence)
        const fiber = yield* Effect.forkChild(told())
        yield* until(() => server.served.some((request) => path.test(request.path)))
        yield* TestClock.adjust("4500 millis")
        const result = yield* Fiber.join(fiber)
        expect(result).toEqual(["Unhealthy", `${at} is unreachable: it gave no answer within 4.5 seconds`])
      }).pipe(Effect.provide(Server.layer))
  )

  it.effect("tells a token that the server refuses", () =>
    Effect.gen(function* () {
      const server = yield* Server
      expect(yield* told({ auth: { method: "token", token: Redacted.make("canary") } })).toEqual([
        "Unhealthy",
        expect.stringContaining(`${at} refuses the token: permission denied`)
      ])
      server.tokens.accounts.push({ path: "auth/approle/login", accepts: () => false })
      const secretId = Redacted.make("canary")
      const result = yield* told({ auth: { method: "appRole", mount: "approle", roleId: "store", secretId } })
      expect(result).toEqual([
        "Unhealthy",
        `${at} refuses the token: the server refused the credentials (400), or auth/approle is not mounted`
      ])
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("tells a token that is about to end", () =>
    Effect.gen(function* () {
      const { tokens } = yield* Server
      const auth = { method: "token", token: Redacted.make(tokens.issue({ ttl: 36_000 }).id) } as const
      const month = { method: "token", token: Redacted.make(tokens.issue({ ttl: 30 * 86_400 }).id) } as const
      yield* TestClock.adjust("8 hours")
      expect(yield* told({ auth })).toEqual(["Healthy", `${at} is active`])
      yield* TestClock.adjust("90 minutes")
      expect(yield* told({ auth })).toEqual(["Degraded", "The token ends in 1800 seconds"])
      yield* TestClock.adjust("30 minutes")
      expect(yield* told({ auth })).toEqual(["Unhealthy", expect.stringContaining(`${at} refuses the token`)])
      yield* TestClock.adjust("28 days")
      expect(yield* told({ auth: month })).toEqual(["Healthy", `${at} is active`])
      yield* TestClock.adjust("1 day")
      expect(yield* told({ auth: month })).toEqual(["Degraded", "The token ends in 50400 seconds"])
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("tells engines that are not mounted, or are others", () =>
    Effect.gen(function* () {
      const { mounts } = yield* Server
      const missing = (name: string, engine: string) => `There is no mount at ${name} for ${engine}`
      const other = (name: string, engine: string) => `What is mounted at ${name} is not ${engine}`
      const kv = "a key-value engine of version 2"
      const totp = "a TOTP engine"
      mounts.set("credentials", { type: "kv", options: { version: "1" } })
      expect(yield* told()).toEqual(["Unhealthy", other("credentials", kv)])
      mounts.set("credentials", { type: "totp" })
      mounts.set("totp", { type: "kv", options: { version: "2" } })
      expect(yield* told()).toEqual(["Unhealthy", `${other("credentials", kv)}; ${other("totp", totp)}`])
      mounts.delete("credentials")
      mounts.set("totp", { type: "totp" })
      expect(yield* told()).toEqual(["Unhealthy", missing("credentials", kv)])
      mounts.clear()
      expect(yield* told()).toEqual(["Unhealthy", `${missing("credentials", kv)}; ${missing("totp", totp)}`])
      expect((yield* told({ totpMount: "team/totp" }))[1]).toContain("at team/totp")
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("is content with a token that may only do what the store needs", () =>
    Effect.gen(function* () {
      const { mounts, tokens } = yield* Server
      const issue = (allows: (method: string, path: string) => boolean) =>
        ({ auth: { method: "token", token: Redacted.make(tokens.issue({ allows }).id) } }) as const
      const allowed = /^(?:credentials\/(?:$|data\/Credentials\/)|totp\/|sys\/)/
      expect(yield* told(issue((_, path) => allowed.test(path)))).toEqual(["Healthy", `${at} is active`])
      const result = yield* told(issue((_, path) => !path.startsWith("totp")))
      expect(result).toEqual(["Unhealthy", "The token may not use a mount at totp for a TOTP engine, if there is one"])
      mounts.delete("totp")
      const blind = yield* told(issue((_, path) => !path.startsWith("totp")))
      expect(blind).toEqual(result)
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("leaves nothing on the server", () =>
    Effect.gen(function* () {
      const server = yield* Server
      yield* told()
      expect(server.served.every(({ method }) => method === "GET")).toBe(true)
      expect(server.documents.size + server.keys.size).toBe(0)
    }).pipe(Effect.provide(Server.layer))
  )
})
