/**
 * The secret server backend, put together: requests, tokens, engines and the readiness check.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as KeyValueEngine from "./KeyValueEngine.ts"
import { SecretBackend } from "./SecretBackend.ts"
import * as SecretServerAuth from "./SecretServerAuth.ts"
import * as SecretServerBackend from "./SecretServerBackend.ts"
import * as SecretServerCall from "./SecretServerCall.ts"
import * as SecretServerClient from "./SecretServerClient.ts"
import * as SecretServerConnections from "./SecretServerConnections.ts"
import * as SecretServerExchange from "./SecretServerExchange.ts"
import { healthCheck } from "./SecretServerHealth.ts"
import * as SecretServerLease from "./SecretServerLease.ts"
import * as SecretServerLogin from "./SecretServerLogin.ts"
import { fromConfig, type SecretServerOptions, type SecretStoreMisconfigured } from "./SecretServerOptions.ts"
import { SecretStoreConfig } from "./SecretStoreConfig.ts"
import * as TotpEngine from "./TotpEngine.ts"

/**
 * The backend on a server. A server that is away does not fail the start: it shows in the readiness check and as
 * `SecretBackendUnavailable` in each operation.
 */
export const make = Effect.fnUntraced(function* (options: SecretServerOptions) {
  const { hostname, origin, protocol } = options.url
  if (protocol === "http:" && !/^(?:localhost|127\..*|\[::1\])$/.test(hostname)) {
    yield* Effect.logWarning(`Secrets and tokens go to the secret server at ${origin} unencrypted`)
  }
  const exchange = SecretServerExchange.make(yield* SecretServerConnections.make(options.tls), options.url)
  const call = yield* SecretServerCall.make(exchange, options)
  const client = SecretServerClient.make(call, yield* makeAuth(options.auth, call))
  return yield* SecretServerBackend.make({
    documents: KeyValueEngine.make(client, options.keyValueMount),
    seeds: TotpEngine.make(client, options.totpMount, {
      issuer: options.totpIssuer,
      periodInSeconds: options.totpPeriodInSeconds
    }),
    healthChecks: [healthCheck(exchange, client, options)]
  })
})

const makeAuth = Effect.fnUntraced(function* (auth: SecretServerOptions["auth"], call: SecretServerCall.Call) {
  switch (auth.method) {
    case "token":
      return SecretServerAuth.fromToken(auth.token)
    case "tokenFile":
      return yield* SecretServerAuth.fromFile(auth.file)
    default:
      return yield* SecretServerLease.make(call, yield* SecretServerLogin.make(call, auth))
  }
})

/** {@link make} as a layer. */
export const layer = (options: SecretServerOptions): Layer.Layer<SecretBackend, never, FileSystem.FileSystem> =>
  Layer.effect(SecretBackend, make(options))

/** The backend that the configuration describes; fails where it describes none that could work. */
export const layerConfig: Layer.Layer<
  SecretBackend,
  SecretStoreMisconfigured,
  SecretStoreConfig | FileSystem.FileSystem
> = Layer.unwrap(Effect.map(SecretStoreConfig.use(fromConfig), layer))
