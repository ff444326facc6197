import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as fs from "node:fs"
import * as path from "node:path"
import type * as HealthCheck from "../../src/Plugins/HealthCheck.ts"
import type * as Plugin from "../../src/Plugins/Plugin.ts"
import { SecretStoreConfig } from "../../src/SecretStore/SecretStoreConfig.ts"
import { secretStore } from "../../src/SecretStore/SecretStorePlugin.ts"
import { SecretBackend } from "../../src/SecretStore/SecretBackend.ts"
import { CredentialStorage, samples } from "./support/Credentials.ts"
import { platform, temporaryDirectory } from "./support/Files.ts"

const services = secretStore.services as Layer.Layer<SecretBackend, unknown, SecretStoreConfig>
const checks = secretStore.healthChecks as Effect.Effect<
  ReadonlyArray<HealthCheck.HealthCheck>,
  unknown,
  SecretStoreConfig
>

describe("secretStore", () => {
  it("is a plugin of the framework, which owns the section", () => {
    expect(secretStore).toMatchObject({ id: "layerhost/secret-store", origin: "framework" })
    expect(secretStore.config.map(({ path }) => path)).toEqual(["secretstore"])
  })

  it("provides the backend, and needs nothing that the host does not give", () => {
    expectTypeOf<Plugin.Provides<typeof secretStore>>().toEqualTypeOf<SecretBackend>()
    expectTypeOf<Plugin.Requires<typeof secretStore>>().toEqualTypeOf<never>()
  })

  it.effect("has the documented defaults, and hides the token", () =>
    Effect.gen(function* () {
      const config = yield* SecretStoreConfig
      expect({ ...config, token: Redacted.value(config.token) }).toEqual({
        url: "",
        token: "",
        totpIssuer: "layerhost",
        totpPeriodInSeconds: 30,
        useLocalFileSystem: false,
        localFileSystemPath: "./nodep-secretstore"
      })
    }).pipe(Effect.provide(SecretStoreConfig.layer()))
  )

  it.effect.each([0, -30, 1.5, Number.NaN])("refuses a TOTP period of %d seconds", (totpPeriodInSeconds) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Layer.build(SecretStoreConfig.layer({ totpPeriodInSeconds })))
      expect(error.message).toContain("totpPeriodInSeconds")
    })
  )

  it.effect("with useLocalFileSystem, keeps secrets in the directory and checks it", () =>
    Effect.gen(function* () {
      const root = path.join(yield* temporaryDirectory, "secrets")
      const config = SecretStoreConfig.layer({
        useLocalFileSystem: true,
        localFileSystemPath: root,
        totpPeriodInSeconds: 60
      })
      yield* Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", samples.UsernamePasswordTotp)
        expect(yield* storage.get(id)).toMatchObject({ totp: { totpCode: { remainingSeconds: 60 } } })
        const [check, ...others] = yield* checks
        expect(others).toEqual([])
        expect(check!.name).toBe("secretstore-local-filesystem")
        expect((yield* check!.check).status).toBe("Healthy")
        fs.rmSync(root, { recursive: true })
        expect((yield* check!.check).status).toBe("Unhealthy")
      }).pipe(
        Effect.provide(CredentialStorage.layer.pipe(Layer.provide(services), Layer.provideMerge(config))),
        Effect.provide(platform)
      )
    })
  )

  it.effect("without it, does not start, and says how it would", () =>
    Effect.gen(function* () {
      const config = SecretStoreConfig.layer({ url: "http://127.0.0.1:8200", token: "canary" })
      const error = yield* Effect.flip(Layer.build(Layer.provide(services, config)))
      expect(error).toMatchObject({ _tag: "SecretServerUnsupported" })
      expect(String(error)).toContain("SECRETSTORE_USELOCALFILESYSTEM=true")
      expect(String(error)).not.toContain("canary")
    })
  )
})
