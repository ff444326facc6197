/**
 * The connections to the secret server: the store's own, with its own certificates where it has some.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type { Dispatcher } from "@effect/platform-node/Undici"
import type * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { Tls } from "./SecretServerOptions.ts"

export type { Dispatcher }

/** A pool of connections that lasts as long as the scope. Without certificates, Node's defaults serve. */
export const make = (tls: Tls | undefined): Effect.Effect<Dispatcher, never, Scope.Scope> => {
  if (tls === undefined) return NodeHttpClient.makeDispatcher
  const { key, ...certificates } = tls
  return NodeHttpClient.makeDispatcherOptions({
    connect: { ...certificates, ...(key !== undefined && { key: Redacted.value(key) }) }
  })
}
