/** The secret server backend over a stand-in. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as SecretServer from "../../../src/SecretStore/SecretServer.ts"
import type { SecretServerOptions } from "../../../src/SecretStore/SecretServerOptions.ts"
import { CredentialStorage } from "./Credentials.ts"
import { platform } from "./Files.ts"
import { type StandIn, standIn } from "./server/StandIn.ts"

export class Server extends Context.Service<Server, StandIn>()("test/Server") {
  /** A stand-in of the test's own. */
  static readonly layer = Layer.effect(Server, standIn())
}

export const optionsFor = (server: StandIn): SecretServerOptions => ({
  url: server.url,
  auth: { method: "token", token: Redacted.make(server.root) },
  keyValueMount: "credentials",
  totpMount: "totp",
  namespace: undefined,
  timeout: Duration.seconds(10),
  totpIssuer: "layerhost",
  totpPeriodInSeconds: 30,
  tls: undefined
})

/** The backend over the test's stand-in. */
export const backend = (change: (server: StandIn) => Partial<SecretServerOptions> = () => ({})) =>
  Layer.unwrap(Server.useSync((server) => SecretServer.layer({ ...optionsFor(server), ...change(server) }))).pipe(
    Layer.provide(platform)
  )

/** A storage over the backend, with the stand-in and the backend themselves. */
export const storage = (change?: (server: StandIn) => Partial<SecretServerOptions>) =>
  CredentialStorage.layer.pipe(Layer.provideMerge(backend(change)), Layer.provideMerge(Server.layer))
