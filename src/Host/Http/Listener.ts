/**
 * Listening: one Node server for each address of `host:urls`. All of them start, or none does.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import type { ServeError } from "effect/http/HttpServerError"
import type * as NetAddress from "effect/net/NetAddress"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { createServer } from "node:http"
import type { ListenOptions } from "node:net"
import type { ListenAddress, ListenUrl } from "./ListenUrl.ts"
import type { HttpEffect } from "./Pipeline.ts"

/** An address of `host:urls` that cannot be listened on: taken, not allowed, or not of this machine. */
export class ListenError extends Schema.TaggedError<ListenError>()("ListenError", {
  url: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `Cannot listen on ${this.url}: ${this.reason}`
  }
}

/** An address that the host listens on. */
export type BoundAddress = NetAddress.SocketAddress

/**
 * Starts a listener on every address and serves `httpEffect` there until the scope closes. Closing it stops accepting,
 * lets requests in flight finish within `shutdownTimeout`, interrupts those that have not, and then closes what is open.
 */
export const listen = Effect.fnUntraced(function* (
  urls: ReadonlyArray<ListenUrl>,
  httpEffect: HttpEffect,
  options: { readonly shutdownTimeout: Duration.Duration }
) {
  // Listeners close side by side, so that one limit holds for all of them.
  const listeners = yield* Scope.fork(yield* Effect.scope, "parallel")
  const started: Array<{ readonly server: HttpServer.HttpServer["Service"]; readonly scope: Scope.Closeable }> = []
  for (const { url, addresses } of urls) {
    let port: number | undefined
    for (const address of addresses) {
      const scope = yield* Scope.fork(listeners, "sequential")
      const server = yield* bind(withPort(address, port), options.shutdownTimeout).pipe(
        Scope.provide(scope),
        Effect.catch((error) =>
          canDoWithout(address, addresses, error)
            ? Effect.succeed(undefined)
            : Effect.fail(new ListenError({ url, reason: reasonOf(error) }))
        )
      )
      if (server === undefined) continue
      started.push({ server, scope })
      // Both loopbacks of `localhost:0` share the port that the first one was given.
      if ("port" in server.address) port = server.address.port
    }
  }
  // Nothing is answered before every address is there.
  for (const { server, scope } of started) yield* Scope.provide(server.serve(httpEffect), scope)
  return started.map(({ server }) => server.address)
})

const bind = Effect.fnUntraced(function* (address: ListenAddress, shutdownTimeout: Duration.Duration) {
  const nodeServer = createServer()
  const server = yield* NodeHttpServer.make(() => nodeServer, {
    ...toListenOptions(address),
    gracefulShutdownTimeout: shutdownTimeout
  })
  // Runs after the requests have ended or were interrupted; a connection that is still open has nothing left to say.
  yield* Effect.addFinalizer(() => Effect.sync(() => nodeServer.closeAllConnections()))
  return server
})

const withPort = (address: ListenAddress, port: number | undefined): ListenAddress =>
  address._tag === "Tcp" && port !== undefined ? { ...address, port } : address

const toListenOptions = (address: ListenAddress): ListenOptions =>
  address._tag === "Unix"
    ? { path: address.path }
    : { port: address.port, ...(address.host === undefined ? undefined : { host: address.host }) }

const codeOf = (error: ServeError): string | undefined => (error.cause as NodeJS.ErrnoException | undefined)?.code

/** A machine without IPv6 has one loopback. */
const canDoWithout = (address: ListenAddress, all: ReadonlyArray<ListenAddress>, error: ServeError): boolean =>
  address._tag === "Tcp" &&
  address.host === "::1" &&
  all.length > 1 &&
  (codeOf(error) === "EADDRNOTAVAIL" || codeOf(error) === "EAFNOSUPPORT")

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "the address is in use by another process",
  EACCES: "this process may not listen there",
  EADDRNOTAVAIL: "the address is not one of this machine",
  ENOENT: "the directory of the socket does not exist"
}

const reasonOf = (error: ServeError): string =>
  reasons[codeOf(error) ?? ""] ?? (error.cause instanceof Error ? error.cause.message : String(error.cause))

/** An address as a URL, for logs. */
export const formatAddress = (address: BoundAddress): string => HttpServer.formatAddress(address)
