/**
 * Listening: one Node server for each address of `host:urls`. All of them start, or none does.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpServer from "effect/http/HttpServer"
import type { ServeError } from "effect/http/HttpServerError"
import type * as NetAddress from "effect/net/NetAddress"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import type { Server } from "node:http"
import type * as Net from "node:net"
import type { DirectRoot } from "../FastPath/DirectRoot.ts"
import * as Platform from "../FastPath/Platform.ts"
import * as Peer from "../ForwardedHeaders/Peer.ts"
import * as NodeServer from "../Tls/NodeServer.ts"
import type { ServerLimits } from "../Tls/ServerLimits.ts"
import * as Tls from "../Tls/Tls.ts"
import type { TlsConfig } from "../Tls/TlsConfig.ts"
import * as ClientErrors from "./ClientErrors.ts"
import * as Connections from "./Connections.ts"
import type { ListenAddress, ListenUrl } from "./ListenUrl.ts"
import type { HttpEffect } from "./Pipeline.ts"
import * as Pipelining from "./Pipelining.ts"
import * as UnixSocket from "./UnixSocket.ts"

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
export interface BoundAddress {
  readonly address: NetAddress.SocketAddress
  readonly isSecure: boolean
}

/** What listeners serve. */
export interface Served {
  /** What every request meets. */
  readonly httpEffect: HttpEffect
  /** The shorter way of plain requests. */
  readonly direct: DirectRoot
}

/** What holds for every listener. */
export interface ListenOptions extends ServerLimits {
  readonly shutdownTimeout: Duration.Duration
  /** How long connections must be quiet at the end before those that are idle are closed. */
  readonly keepAliveGrace: Duration.Duration
  readonly tls: TlsConfig["Service"]
}

/**
 * Starts a listener on every address and serves an application there until the scope closes. Closing it stops accepting,
 * lets requests in flight finish within `shutdownTimeout`, interrupts those that have not, and then closes what is open.
 */
export const listen = Effect.fnUntraced(function* (
  urls: ReadonlyArray<ListenUrl>,
  application: Served,
  options: ListenOptions
) {
  const secureUrls = urls.filter(({ isSecure }) => isSecure).map(({ url }) => url)
  const certificates = yield* Tls.make(options.tls, secureUrls)
  // Listeners close side by side, so that one limit holds for all of them.
  const listeners = yield* Scope.fork(yield* Effect.scope, "parallel")

  const bind = (address: ListenAddress, url: string, scope: Scope.Scope) =>
    Effect.gen(function* () {
      const nodeServer = NodeServer.make(options, certificates.get(url))
      const serving = serve(nodeServer, address, application, options)
      return yield* Scope.provide(serving, yield* Scope.fork(scope, "sequential"))
    })

  /** Starts a listener on each address of a URL. */
  const bindAll = Effect.fnUntraced(function* ({ addresses, isSecure, url }: ListenUrl, scope: Scope.Scope) {
    const bound: Array<BoundAddress> = []
    let port: number | undefined
    for (const address of addresses) {
      const server = yield* bind(withPort(address, port), url, scope).pipe(
        Effect.catch((error) =>
          canDoWithout(address, addresses, error)
            ? Effect.undefined
            : Effect.fail(new BindFailure({ address, code: codeOf(error), error, isPortPicked: port !== undefined }))
        )
      )
      if (server === undefined) continue
      bound.push({ address: server, isSecure })
      // Both loopbacks of `localhost:0` share the port that the first one was given.
      if ("port" in server) port = server.port
    }
    return bound
  })

  const startUrl = (url: ListenUrl) =>
    Effect.flatMap(Scope.fork(listeners, "parallel"), (scope) =>
      Effect.onError(bindAll(url, scope), (cause) => Scope.close(scope, Exit.failCause(cause)))
    ).pipe(
      Effect.retry({ while: mayPassNextTime, times: 10 }),
      Effect.mapError((failure) => new ListenError({ url: url.url, reason: reasonOf(failure) }))
    )

  return yield* Effect.forEach(urls, startUrl).pipe(
    Effect.map((bound) => bound.flat()),
    Effect.onError((cause) => Scope.close(listeners, Exit.failCause(cause)))
  )
})

/** Why one address cannot be listened on. */
class BindFailure extends Data.TaggedError("BindFailure")<{
  readonly address: ListenAddress
  readonly code: string | undefined
  readonly error: ServeError
  /** Whether the port is the one that the other loopback was given. */
  readonly isPortPicked: boolean
}> {}

/** Another port may be free on both loopbacks, and a socket that a killed process left is removed. */
const mayPassNextTime = ({ address, code, isPortPicked }: BindFailure): Effect.Effect<boolean> => {
  if (code !== "EADDRINUSE") return Effect.succeed(false)
  return address._tag === "Unix"
    ? Effect.tap(UnixSocket.removeDead(address.path), (isFree) =>
        isFree ? Effect.logInfo(`Removed ${address.path}, on which nobody listened any more`) : Effect.void
      )
    : Effect.succeed(isPortPicked && address.port === 0)
}

/** How long requests that were interrupted have to say so. */
const interruptGrace = Duration.seconds(1)

const serve = Effect.fnUntraced(function* (
  nodeServer: Server,
  address: ListenAddress,
  { direct, httpEffect }: Served,
  { keepAliveGrace, shutdownTimeout }: ListenOptions
) {
  Connections.finishAnswers(nodeServer, Duration.toMillis(keepAliveGrace))
  yield* ClientErrors.answer(nodeServer, Pipelining.inOrder(nodeServer))
  // What a client expects that the host does not know is refused as all else is, and not by Node.
  nodeServer.on("checkExpectation", (request, response) => nodeServer.emit("request", request, response))
  if (address._tag === "Unix") nodeServer.on("connection", Peer.noteUnixSocket)
  const server = yield* NodeHttpServer.make(() => nodeServer, {
    ...toListenOptions(address),
    gracefulShutdownTimeout: shutdownTimeout
  })
  const serving = yield* Scope.make()
  yield* Effect.addFinalizer((exit) =>
    Effect.gen(function* () {
      const closing = yield* Effect.forkChild(Scope.close(serving, exit))
      yield* Effect.timeoutOption(Fiber.await(closing), Duration.sum(shutdownTimeout, interruptGrace))
      // A connection that is still open has nothing left to say, or a client that does not listen.
      nodeServer.closeAllConnections()
      yield* Fiber.join(closing)
    })
  )
  // What the host annotates its own log lines with is not for those of requests.
  yield* Effect.gen(function* () {
    const { effect, takeOver } = Platform.make(httpEffect)
    // Older than the platform's finalizer, which waits for requests in flight, so that they are interrupted after that.
    const fibers = yield* Scope.fork(serving, "parallel")
    yield* server.serve(effect)
    nodeServer.on("request", direct(yield* Effect.context<never>(), fibers, takeOver(nodeServer)))
  }).pipe(Effect.provideService(References.CurrentLogAnnotations, {}), Scope.provide(serving))
  return server.address
})

const withPort = (address: ListenAddress, port: number | undefined): ListenAddress =>
  address._tag === "Tcp" && port !== undefined ? { ...address, port } : address

const toListenOptions = (address: ListenAddress): Net.ListenOptions =>
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
  EADDRINUSE: "the address is already in use; stop what listens there, or choose another in host:urls",
  EACCES: "this process may not listen there; choose a port from 1024 on in host:urls, or grant it the right",
  EADDRNOTAVAIL: "the address is not one of this machine; choose one that is in host:urls, or + for all"
}

/** Here, one code stands for several things. */
const socketReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another process listens there, or the file is no socket; choose another path in host:urls",
  EACCES: "its directory does not exist, or is not this process's to use; choose another path in host:urls"
}

const reasonOf = ({ address, code = "", error }: BindFailure): string =>
  (address._tag === "Unix" ? socketReasons : reasons)[code] ??
  (error.cause instanceof Error ? error.cause.message : String(error.cause))

/** An address as a URL, for logs. */
export const formatAddress = ({ address, isSecure }: BoundAddress): string =>
  isSecure ? HttpServer.formatAddress(address).replace(/^http:/, "https:") : HttpServer.formatAddress(address)
