import * as Layer from "effect/Layer"
import { suite } from "./SecretStorageTest.ts"
import { openBao, vault } from "./support/server/Reply.ts"
import { standIn } from "./support/server/StandIn.ts"
import { backend, Server } from "./support/Server.ts"

for (const [name, flavour] of [
  ["OpenBao", openBao],
  ["Vault", vault]
] as const) {
  suite(`${name}'s stand-in`, Layer.provide(backend(), Layer.effect(Server, standIn({ flavour }))))
}
