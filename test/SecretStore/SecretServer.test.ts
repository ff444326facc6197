import * as Layer from "effect/Layer"
import { suite } from "./SecretStorageTest.ts"
import { backend, Server } from "./support/Server.ts"

suite("the secret server", Layer.provide(backend(), Server.layer))
