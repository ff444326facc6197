import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import type * as HealthCheck from "../../src/Plugins/HealthCheck.ts"
import type * as Plugin from "../../src/Plugins/Plugin.ts"
import * as FileBackend from "../../src/SecretStore/FileBackend.ts"
import { SecretStoreConfig } from "../../src/SecretStore/SecretStoreConfig.ts"
import { secretStore } from "../../src/SecretStore/SecretStorePlugin.ts"
import { SecretBackend } from "../../src/SecretStore/SecretBackend.ts"
import { SecretStoreMisconfigured } from "../../src/SecretStore/SecretServerOptions.ts"
import * as TotpCodeGenerator from "../../src/SecretStore/TotpCodeGenerator.ts"
import { CredentialStorage, login, samples, seed } from "./support/Credentials.ts"
import { revealed } from "./SecretStorageTest.ts"
import { filesBelow, platform, temporaryDirectory } from "./support/Files.ts"
import { Server } from "./support/Server.ts"
import { silence, when } from "./support/server/faults.ts"

const services = Layer.provide(
  secretStore.services as Layer.Layer<SecretBackend, unknown, SecretStoreConfig | FileSystem.FileSystem | Path.Path>,
  platform
)
const checks = secretStore.healthChecks as Effect.Effect<ReadonlyArray<HealthCheck.HealthCheck>, unknown, SecretBackend>

/** Builds the plugin's services from a configuration, as a host does. */
const start = (config: Parameters<typeof SecretStoreConfig.layer>[0]) =>
  Layer.build(Layer.provide(services, SecretStoreConfig.layer(config)))

/** The keys that a start complains of. */
const complaints = (config: Parameters<typeof SecretStoreConfig.layer>[0]) =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(start(config))
    expect(error).toBeInstanceOf(SecretStoreMisconfigured)
    expect(String(error)).not.toContain("canary")
    return (error as SecretStoreMisconfigured).faults.map(({ key }) => key)
  })

/** A seed may come as a URI whose codes last as long as those of the store, and as no other. */
const expectPeriod = Effect.fnUntraced(function* (
  storage: CredentialStorage["Service"],
  id: Parameters<CredentialStorage["Service"]["get"]>[0],
  seconds: number
) {
  const from = (query: string) => ({
    ...samples.UsernamePasswordTotp,
    totp: { totpKey: { base32Key: Redacted.make(`otpauth://totp/ada?secret=${seed}${query}`) } }
  })
  yield* storage.update(id, from(`&period=${seconds}`))
  const code = Redacted.make(yield* TotpCodeGenerator.generate(seed, seconds))
  expect(yield* storage.get(id)).toMatchObject({ totp: { totpCode: { code } } })
  for (const query of ["", "&period=30"]) {
    const { message } = yield* Effect.flip(storage.update(id, from(query)))
    expect(message).toContain("totp.totpKey.base32Key: Expected an otpauth URI whose period")
  }
})

describe("secretStore", () => {
  it.effect.each([
    [{}, "by another"],
    [{ cacheInSeconds: 10 }, "1"],
    [{ cacheInSeconds: 10, localFileSystemVersions: 1 }, "1"],
    [{ cacheStaleInSeconds: 10 }, "by another"]
  ] as const)("keeps versions and a cache as %s says", ([config, expected]) =>
    Effect.gen(function* () {
      const localFileSystemPath = yield* temporaryDirectory
      const context = yield* start({ useLocalFileSystem: true, localFileSystemPath, ...config })
      const use = <A, E>(effect: Effect.Effect<A, E, CredentialStorage>) =>
        effect.pipe(Effect.provide(CredentialStorage.layer), Effect.provide(context))
      const id = yield* use(CredentialStorage.use((storage) => storage.create("ApiKeys", login("1"))))
      const password = use(
        CredentialStorage.use((storage) => Effect.map(storage.get(id), (secret) => revealed(secret)))
      )
      expect(yield* password).toMatchObject({ password: "1" })
      const other = FileBackend.layer({ path: localFileSystemPath }).pipe(Layer.provide(platform))
      const location = { bucketSet: "Credentials", id }
      yield* Effect.provide(
        SecretBackend.use((it) => it.update(location, login("by another"))),
        other
      )
      expect(yield* password).toMatchObject({ password: expected })

      yield* use(CredentialStorage.use((storage) => storage.update(id, login("3"))))
      const history = yield* use(CredentialStorage.use((storage) => storage.history(id)))
      expect(history).toHaveLength("localFileSystemVersions" in config ? 1 : 3)
    })
  )

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
      const secrets = [config.token, config.secretId, config.password]
      expect(secrets.map((secret) => Redacted.value(secret))).toEqual(["", "", ""])
      expect(config).toMatchObject({
        url: "",
        totpIssuer: "layerhost",
        totpPeriodInSeconds: 30,
        useLocalFileSystem: false,
        localFileSystemPath: "./nodep-secretstore",
        localFileSystemVersions: 10,
        cacheInSeconds: 0,
        cacheStaleInSeconds: 0,
        cacheCapacity: 1000,
        keyValueMount: "credentials",
        totpMount: "totp",
        namespace: "",
        timeoutInSeconds: 10,
        caCertificateFile: "",
        clientCertificateFile: "",
        clientKeyFile: "",
        authMethod: "token",
        authMount: "",
        tokenFile: "",
        roleId: "",
        kubernetesRole: "",
        serviceAccountTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token",
        username: ""
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
        yield* expectPeriod(storage, id, 60)
        const [check, ...others] = yield* checks
        expect(others).toEqual([])
        expect(check!.name).toBe("secretstore-local-filesystem")
        expect((yield* check!.check).status).toBe("Healthy")
        fs.rmSync(root, { recursive: true })
        expect((yield* check!.check).status).toBe("Unhealthy")
      }).pipe(Effect.provide(CredentialStorage.layer.pipe(Layer.provideMerge(services), Layer.provide(config))))
    })
  )

  it.effect("encrypts the files with encryptionKey, or with the first key of encryptionKeyFile", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const files = { useLocalFileSystem: true, localFileSystemPath: root } as const
      const storage = (config: Parameters<typeof SecretStoreConfig.layer>[0]) =>
        CredentialStorage.layer.pipe(Layer.provide(services), Layer.provide(SecretStoreConfig.layer(config)))
      const [one, two] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")]
      const create = CredentialStorage.use((storage) => storage.create("ApiKeys", samples.UsernamePassword))
      const plain = yield* create.pipe(Effect.provide(storage(files)))
      const first = yield* create.pipe(Effect.provide(storage({ ...files, encryptionKey: one })))
      const keyFile = path.join(yield* temporaryDirectory, "keys")
      fs.writeFileSync(keyFile, `${two}\n`)
      const second = yield* create.pipe(Effect.provide(storage({ ...files, encryptionKeyFile: keyFile })))
      for (const file of filesBelow(root)) {
        const isPlain = file.includes(plain.key)
        expect(fs.readFileSync(path.join(root, file), "utf8").includes("canary")).toBe(isPlain)
      }
      const canRead = (config: Parameters<typeof SecretStoreConfig.layer>[0]) =>
        Effect.forEach([plain, first, second], (id) =>
          CredentialStorage.use((storage) => storage.get(id)).pipe(
            Effect.as(true),
            Effect.catchTag("SecretAccessDenied", (error) => {
              expect(error.message).toContain(path.join(root, "Credentials/ApiKeys/UsernamePassword", id.key))
              return Effect.succeed(false)
            })
          )
        ).pipe(Effect.provide(storage({ ...files, ...config })))
      expect(yield* canRead({})).toEqual([true, false, false])
      expect(yield* canRead({ encryptionKey: one })).toEqual([false, true, false])
      expect(yield* canRead({ encryptionKey: two, formerEncryptionKeys: [one] })).toEqual([false, true, true])
      fs.writeFileSync(keyFile, `# since March\n${two}\n\n${one}\n`)
      expect(yield* canRead({ encryptionKeyFile: keyFile, acceptPlainFiles: true })).toEqual([true, true, true])
    })
  )

  it.effect("tells what is wrong with a file of keys, with its line, and repeats nothing of it", () =>
    Effect.gen(function* () {
      const keyFile = path.join(yield* temporaryDirectory, "keys")
      const config = { useLocalFileSystem: true, encryptionKeyFile: keyFile } as const
      expect(yield* complaints(config)).toEqual(["encryptionKeyFile"])
      for (const text of ["", "# none\n", "canary", `${randomBytes(32).toString("base64")}\ncanary`]) {
        fs.writeFileSync(keyFile, text)
        expect(yield* complaints(config)).toEqual(["encryptionKeyFile"])
      }
      expect(String(yield* Effect.flip(start(config)))).toContain(`${keyFile}: line 2: Expected 32 bytes in base64`)
    })
  )

  it.effect("refuses keys of another length, two places for the key, and what makes no sense without one", () =>
    Effect.gen(function* () {
      const key = randomBytes(32).toString("base64")
      for (const [config, message] of [
        [{ encryptionKey: "canary" }, /32 bytes in base64[^]*encryptionKey/],
        [{ encryptionKey: randomBytes(16).toString("base64") }, /32 bytes in base64[^]*encryptionKey/],
        [{ encryptionKey: key, formerEncryptionKeys: ["canary"] }, /32 bytes in base64[^]*formerEncryptionKeys/],
        [{ encryptionKey: key, encryptionKeyFile: "keys" }, /either encryptionKey or encryptionKeyFile, not both/],
        [{ formerEncryptionKeys: [key] }, /Expected encryptionKey or encryptionKeyFile[^]*formerEncryptionKeys/],
        [{ acceptPlainFiles: true }, /Expected encryptionKey or encryptionKeyFile[^]*acceptPlainFiles/]
      ] as const) {
        const error = yield* Effect.flip(Layer.build(SecretStoreConfig.layer(config)))
        expect(error.message).toMatch(message)
        expect(error.message).not.toContain("canary")
        expect(error.message).not.toContain(key)
      }
    })
  )

  it.effect("else keeps them on the server, and checks that", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const config = SecretStoreConfig.layer({ url: server.url.href, token: server.root, totpPeriodInSeconds: 60 })
      yield* Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", samples.UsernamePasswordTotp)
        expect(yield* storage.get(id)).toMatchObject({ totp: { totpCode: { remainingSeconds: 60 } } })
        yield* expectPeriod(storage, id, 60)
        expect(server.documents.has(`Credentials/ApiKeys/${id.id}`)).toBe(true)
        expect(server.keys.get(id.id)).toMatchObject({ issuer: "layerhost", account_name: "ada", period: 60 })
        const [check, ...others] = yield* checks
        expect(others).toEqual([])
        expect(check!.name).toBe("secretstore")
        expect((yield* check!.check).status).toBe("Healthy")
      }).pipe(Effect.provide(CredentialStorage.layer.pipe(Layer.provideMerge(services), Layer.provide(config))))
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("starts while the server is away, silent or refuses the login, and does not wait for it", () =>
    Effect.gen(function* () {
      const server = yield* Server
      const login = { authMethod: "userpass", username: "ada", password: "canary" } as const
      server.fault = when("POST", /login/, silence)
      yield* start({ url: server.url.href, ...login })
      server.fault = () => undefined
      yield* start({ url: server.url.href, ...login })
      yield* Effect.promise(() => server.stop())
      yield* start({ url: server.url.href, ...login })
      yield* start({ url: server.url.href, token: "canary" })
    }).pipe(Effect.provide(Server.layer))
  )

  it.effect("without a URL, does not start, and says how it would", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(start({ token: "canary" }))
      expect(String(error)).toContain("secretstore:url: Expected the URL of the secret server")
      expect(String(error)).toContain("SECRETSTORE_USELOCALFILESYSTEM=true")
      expect(String(error)).not.toContain("canary")
    })
  )

  it.effect.each([
    "canary",
    "ftp://127.0.0.1",
    "127.0.0.1:8200",
    "http://ada:canary@127.0.0.1",
    "http://127.0.0.1/?token=canary",
    "http://127.0.0.1/#canary"
  ])("does not start with the URL %s", (url) =>
    Effect.gen(function* () {
      expect(yield* complaints({ url, token: "canary" })).toEqual(["url"])
    })
  )

  it.effect("tells every fault of the configuration at once, under its key", () =>
    Effect.gen(function* () {
      const url = "https://127.0.0.1:8200"
      const directory = yield* temporaryDirectory
      const file = (name: string, text: string) => {
        fs.writeFileSync(path.join(directory, name), text)
        return path.join(directory, name)
      }
      const notPem = file("canary.pem", "canary")
      for (const [config, keys] of [
        [{}, ["url", "token"]],
        [{ url, token: "canary\ncanary" }, ["token"]],
        [{ url, authMethod: "tokenFile" }, ["tokenFile"]],
        [{ url, authMethod: "appRole", token: "canary" }, ["roleId"]],
        [{ url, authMethod: "kubernetes", serviceAccountTokenFile: "" }, ["kubernetesRole", "serviceAccountTokenFile"]],
        [{ url, authMethod: "userpass" }, ["username", "password"]],
        [{ url, token: "t", namespace: "a\r\nb" }, ["namespace"]],
        [{ url, token: "t", caCertificateFile: path.join(directory, "missing") }, ["caCertificateFile"]],
        [{ url, token: "t", caCertificateFile: notPem }, ["caCertificateFile"]],
        [{ url, token: "t", clientCertificateFile: notPem }, ["clientCertificateFile"]],
        [{ url, token: "t", clientCertificateFile: notPem, clientKeyFile: notPem }, ["clientCertificateFile"]]
      ] as const) {
        expect(yield* complaints(config)).toEqual(keys)
      }
    })
  )

  it.effect("lists the known ways to authenticate where it is asked for another", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(start({ url: "http://127.0.0.1", authMethod: "ldap" as "token" }))
      for (const method of ["token", "tokenFile", "appRole", "kubernetes", "userpass"]) {
        expect(String(error)).toContain(`"${method}"`)
      }
    })
  )

  it.effect.each(["", "/credentials", "credentials/", "../sys", "a//b", "a?b"])(
    "refuses the mount %j",
    (keyValueMount) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(start({ url: "http://127.0.0.1", token: "t", keyValueMount, authMount: "a/" }))
        expect(String(error)).toContain("keyValueMount")
        expect(String(error)).toContain("authMount")
      })
  )
})
