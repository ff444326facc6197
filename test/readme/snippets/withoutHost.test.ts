import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { FileBackend, MemoryBackend, SecretServer, SecretStoreConfig } from "layerhost/SecretStore"
import { CredentialStorage } from "../../../examples/credentials/src/CredentialStorage.ts"
import { temporaryDirectory } from "../../SecretStore/support/Files.ts"
import { standIn } from "../../SecretStore/support/server/StandIn.ts"

// What a program of yours does with secrets: it knows no backend.
const keepLogin = Effect.gen(function* () {
  const storage = yield* CredentialStorage
  const password = Redacted.make("correct horse")
  const id = yield* storage.create("ApiKeys", { type: "UsernamePassword", username: "ada", password })
  const { version } = yield* storage.metadata(id)
  const changed = { type: "UsernamePassword", username: "grace", password } as const
  yield* storage.update(id, changed, { expectedVersion: version })
  return yield* storage.get(id)
})

const inMemory = MemoryBackend.layer()
const inFiles = (path: string) => FileBackend.layer({ path }).pipe(Layer.provide(NodeServices.layer))
const onServer = (url: string, token: string) =>
  SecretServer.layerConfig.pipe(
    Layer.provide(SecretStoreConfig.layer({ url, token })),
    Layer.provide(NodeServices.layer)
  )

const backends = [
  ["memory", inMemory],
  ["files", Layer.unwrap(Effect.map(temporaryDirectory, inFiles))],
  ["a server", Layer.unwrap(Effect.map(standIn(), ({ root, url }) => onServer(url.href, root)))]
] as const

describe("A login", () => {
  it.effect.each(backends)("is kept in %s", ([, backend]) =>
    Effect.gen(function* () {
      const secret = yield* Effect.provide(keepLogin, Layer.provide(CredentialStorage.layer, backend))
      assert.propertyVal(secret, "username", "grace")
    })
  )
})
