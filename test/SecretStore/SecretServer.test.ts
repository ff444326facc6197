import * as Layer from "effect/Layer"
import { suite } from "./SecretStorageTest.ts"
import { backend, Server } from "./support/Server.ts"

suite("the secret server", Layer.provide(backend(), Server.layer))

const withoutPages = Layer.effect(
  Server,
  Server.useSync((server) => {
    server.keyValue.paged = false
    return server
  })
).pipe(Layer.provide(Server.layer))

suite("a secret server without pages", Layer.provide(backend(), withoutPages))
