/**
 * The contract over a real Vault or OpenBao, when the environment names one: LAYERHOST_TEST_VAULT_ADDR and
 * LAYERHOST_TEST_VAULT_TOKEN, a token that may mount engines. Mounts are made under a random prefix, and removed afterwards.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import { randomBytes } from "node:crypto"
import * as SecretServer from "../../src/SecretStore/SecretServer.ts"
import { SecretStoreConfig } from "../../src/SecretStore/SecretStoreConfig.ts"
import { suite } from "./SecretStorageTest.ts"
import { platform } from "./support/Files.ts"

const url = process.env["LAYERHOST_TEST_VAULT_ADDR"]
const token = process.env["LAYERHOST_TEST_VAULT_TOKEN"]

/** Mounts an engine for as long as the scope lasts. */
const mounted = Effect.fnUntraced(function* (path: string, body: object) {
  const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
  const request = (method: "POST" | "DELETE") =>
    HttpClientRequest.make(method)(`${url}/v1/sys/mounts/${path}`, { headers: { "x-vault-token": token! } })
  yield* Effect.acquireRelease(client.execute(HttpClientRequest.bodyJsonUnsafe(request("POST"), body)), () =>
    Effect.orDie(client.execute(request("DELETE")))
  )
})

const backend = Layer.unwrap(
  Effect.gen(function* () {
    const prefix = `layerhost-test-${randomBytes(8).toString("hex")}`
    const [keyValueMount, totpMount] = [`${prefix}/credentials`, `${prefix}/totp`]
    yield* mounted(keyValueMount, { type: "kv", options: { version: "2" } })
    yield* mounted(totpMount, { type: "totp" })
    const config = SecretStoreConfig.layer({ url: url!, token: token!, keyValueMount, totpMount })
    return Layer.provide(SecretServer.layerConfig, config)
  })
).pipe(Layer.provide(NodeHttpClient.layerUndici), Layer.provide(platform))

if (url !== undefined && token !== undefined) {
  suite("a real secret server", backend, { clock: "real" })
} else {
  describe("SecretStorage over a real secret server", () => {
    it.skip("NOT RUN: set LAYERHOST_TEST_VAULT_ADDR and LAYERHOST_TEST_VAULT_TOKEN", () => {})
  })
}
