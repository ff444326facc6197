/**
 * The contract, the logins and the readiness check over a real Vault or OpenBao, when the environment names one:
 * LAYERHOST_TEST_VAULT_ADDR, and LAYERHOST_TEST_VAULT_TOKEN, a token that may do everything. What is mounted is mounted
 * under a random prefix, and removed afterwards.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { SecretBackend } from "../../src/SecretStore/SecretBackend.ts"
import * as SecretServer from "../../src/SecretStore/SecretServer.ts"
import { SecretStoreConfig } from "../../src/SecretStore/SecretStoreConfig.ts"
import { suite } from "./SecretStorageTest.ts"
import { CredentialStorage, samples } from "./support/Credentials.ts"
import { platform } from "./support/Files.ts"

const url = process.env["LAYERHOST_TEST_VAULT_ADDR"] ?? ""
const token = process.env["LAYERHOST_TEST_VAULT_TOKEN"] ?? ""

/** A request of the test's own. */
const api = Effect.fnUntraced(function* (method: "GET" | "POST" | "DELETE", path: string, body?: object) {
  const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
  const request = HttpClientRequest.make(method)(`${url}/v1/${path}`, { headers: { "x-vault-token": token } })
  const response = yield* client.execute(body === undefined ? request : HttpClientRequest.bodyJsonUnsafe(request, body))
  return (yield* response.json) as { readonly data: Record<string, string> }
}, Effect.orDie)

/** Makes something for as long as the scope lasts. */
const made = (path: string, body: object) => Effect.acquireRelease(api("POST", path, body), () => api("DELETE", path))

const prefixed = Effect.sync(() => `layerhost-test-${randomBytes(8).toString("hex")}`)

/** What the README tells operators that a service's token has to be allowed. */
const readmePolicy = /```hcl\n(.*?)```/s.exec(readFileSync(new URL("../../README.md", import.meta.url), "utf8"))![1]!

const mounted = Effect.gen(function* () {
  const prefix = yield* prefixed
  const [keyValueMount, totpMount] = [`${prefix}/credentials`, `${prefix}/totp`]
  yield* made(`sys/mounts/${keyValueMount}`, { type: "kv", options: { version: "2" } })
  yield* made(`sys/mounts/${totpMount}`, { type: "totp" })
  return { prefix, keyValueMount, totpMount }
})

type Config = Parameters<typeof SecretStoreConfig.layer>[0]

const backend = (config: Config) =>
  Layer.fresh(SecretServer.layerConfig).pipe(Layer.provide(SecretStoreConfig.layer({ url, token, ...config })))

const services = Layer.merge(NodeHttpClient.layerUndici, platform)

/** A storage and its readiness check, for as long as the scope lasts. */
const start = (config: Config) =>
  Effect.map(Layer.build(CredentialStorage.layer.pipe(Layer.provideMerge(backend(config)))), (context) => ({
    store: Context.get(context, CredentialStorage),
    check: Effect.orDie(Context.get(context, SecretBackend).healthChecks[0]!.check)
  }))

const logins: ReadonlyArray<
  readonly [
    "appRole" | "userpass",
    (mount: string, policy: string) => Effect.Effect<Config, never, HttpClient.HttpClient>
  ]
> = [
  [
    "appRole",
    Effect.fnUntraced(function* (mount, policy) {
      yield* api("POST", `auth/${mount}/role/store`, { token_policies: [policy], token_ttl: "20m" })
      const role = yield* api("GET", `auth/${mount}/role/store/role-id`)
      const secret = yield* api("POST", `auth/${mount}/role/store/secret-id`, {})
      return { roleId: role.data["role_id"]!, secretId: secret.data["secret_id"]! }
    })
  ],
  [
    "userpass",
    Effect.fnUntraced(function* (mount, policy) {
      yield* api("POST", `auth/${mount}/users/ada`, { password: "pa55word", token_policies: [policy] })
      return { username: "ada", password: "pa55word" }
    })
  ]
]

if (url !== "" && token !== "") {
  suite("a real secret server", Layer.unwrap(Effect.map(mounted, backend)).pipe(Layer.provide(services)), {
    clock: "real"
  })

  describe("A real secret server", () => {
    it.live.each(logins)("lets the store log in by %s, and again when its token is revoked", ([authMethod, prepare]) =>
      Effect.gen(function* () {
        const { prefix, ...mounts } = yield* mounted
        const authMount = `${prefix}/auth`
        yield* made(`sys/auth/${authMount}`, { type: authMethod.toLowerCase() })
        yield* made(`sys/policies/acl/${prefix}`, {
          policy: readmePolicy
            .replaceAll('"credentials/', `"${mounts.keyValueMount}/`)
            .replaceAll('"totp/', `"${mounts.totpMount}/`)
        })
        const account = yield* prepare(authMount, prefix)
        const { check, store } = yield* start({ ...mounts, authMethod, authMount, ...account })
        const id = yield* store.create("ApiKeys", samples.UsernamePasswordTotp)
        expect(yield* check).toEqual({
          status: "Healthy",
          description: `The secret server at ${new URL(url).origin} is active`
        })
        yield* api("POST", `sys/leases/revoke-prefix/auth/${authMount}`, {})
        yield* store.update(id, samples.UsernamePasswordTotp)
        yield* store.get(id)
        expect(yield* Stream.runCollect(store.list("ApiKeys"))).toEqual([id])
        yield* store.restore(id, (yield* store.history(id)).at(-1)!.version)
        yield* store.update(id, samples.UsernamePasswordTotp, { expectedVersion: (yield* store.metadata(id)).version })
        yield* store.delete(id)
        expect(yield* store.exists(id)).toBe(false)
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("tells tokens and mounts that do not serve apart", () =>
      Effect.gen(function* () {
        const { prefix, ...mounts } = yield* mounted
        yield* made(`sys/mounts/${prefix}/old`, { type: "kv", options: { version: "1" } })
        const told = (config: Config) =>
          Effect.flatMap(start({ ...mounts, ...config }), ({ check }) => Effect.map(check, (it) => it.description))
        expect(yield* told({ token: "nonsense" })).toContain("refuses the token")
        expect(yield* told({ keyValueMount: `${prefix}/old` })).toContain("is not a key-value engine of version 2")
        expect(yield* told({ keyValueMount: `${prefix}/none` })).toContain(`There is no mount at ${prefix}/none`)
        expect(yield* told({ totpMount: `${prefix}/none` })).toContain(`There is no mount at ${prefix}/none`)
        expect(yield* told({ totpMount: mounts.keyValueMount })).toContain("is not a TOTP engine")
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("refuses what its engines do not serve with typed errors, never with absence", () =>
      Effect.gen(function* () {
        const { prefix, ...mounts } = yield* mounted
        const { store } = yield* start(mounts)
        const id = yield* store.create("ApiKeys", samples.UsernamePasswordTotp)
        const tagWith = (config: Config) =>
          Effect.flatMap(start({ ...mounts, ...config }), ({ store }) =>
            Effect.map(Effect.flip(store.get(id)), (error) => error._tag)
          )
        expect(yield* tagWith({ token: "nonsense" })).toBe("SecretAccessDenied")
        expect(yield* tagWith({ keyValueMount: `${prefix}/none` })).toBe("SecretBackendUnavailable")
        expect(yield* tagWith({ totpMount: `${prefix}/none` })).toBe("SecretBackendUnavailable")
      }).pipe(Effect.scoped, Effect.provide(services))
    )
  })
} else {
  describe("A real secret server", () => {
    it.skip("NOT RUN: set LAYERHOST_TEST_VAULT_ADDR and LAYERHOST_TEST_VAULT_TOKEN", () => {})
  })
}
