/** A server that only trusts the store's certificate, whose own only the configured authority vouches for. */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as fs from "node:fs"
import * as https from "node:https"
import * as path from "node:path"
import * as SecretServer from "../../src/SecretStore/SecretServer.ts"
import { SecretStoreConfig } from "../../src/SecretStore/SecretStoreConfig.ts"
import { CredentialStorage, login } from "./support/Credentials.ts"
import { platform } from "./support/Files.ts"
import { standIn } from "./support/server/StandIn.ts"

const file = (name: string) => path.join(import.meta.dirname, "support/server/tls", name)
const text = (name: string) => fs.readFileSync(file(name), "utf8")

const overTls = standIn({
  createServer: (listener) =>
    https.createServer(
      {
        key: text("server.key"),
        cert: text("server.pem"),
        ca: text("ca.pem"),
        requestCert: true,
        rejectUnauthorized: true
      },
      listener
    )
})

const trust = { caCertificateFile: file("ca.pem") }
const identity = { clientCertificateFile: file("client.pem"), clientKeyFile: file("client.key") }

const create = (config: Partial<(typeof SecretStoreConfig)["schema"]["Encoded"]>) =>
  Effect.gen(function* () {
    const server = yield* overTls
    const url = `https://127.0.0.1:${server.port}`
    const backend = SecretServer.layerConfig.pipe(
      Layer.provide(SecretStoreConfig.layer({ url, token: server.root, timeoutInSeconds: 0.3, ...config })),
      Layer.provide(platform)
    )
    return yield* CredentialStorage.use((store) => store.create("ApiKeys", login("1"))).pipe(
      Effect.provide(Layer.provide(CredentialStorage.layer, backend))
    )
  }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))

describe.concurrent("SecretServer over TLS", () => {
  it.live("trusts the configured authority, and shows its certificate", () => create({ ...trust, ...identity }))

  it.live.each([
    ["a server that nobody vouches for", {}, /cannot be reached \(\w*(?:CERT|SIGNATURE|ISSUER)\w*\)/],
    ["a server that the configured authority does not vouch for", { ...identity }, /cannot be reached/],
    ["a server that does not know the store", trust, /cannot be reached/]
  ] as const)("keeps no secrets on %s", ([, config, reason]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(create(config))
      expect(error._tag).toBe("SecretBackendUnavailable")
      expect(error.message).toMatch(reason)
    })
  )

  it.live("is not asked for over plain HTTP", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(create({ ...trust, url: "http://127.0.0.1" }))
      expect(error).toMatchObject({ _tag: "SecretStoreMisconfigured", faults: [{ key: "url" }] })
    })
  )

  it.live("needs the private key of the very certificate", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(create({ ...identity, clientKeyFile: file("server.key") }))
      expect(error).toMatchObject({ _tag: "SecretStoreMisconfigured", faults: [{ key: "clientCertificateFile" }] })
    })
  )
})
