/**
 * Who holds the other end of a connection.
 */
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import { isOfNode } from "../Http/NodeHttp.ts"
import * as Address from "./Address.ts"

/** The other end of a request's connection. */
export interface Peer {
  readonly address: string | undefined
  /** Whether it came by a unix socket, which the owner of the socket file let in, or in memory. */
  readonly isLocal: boolean
  readonly scheme: "http" | "https"
}

/** A TCP connection that is gone has no address either, so that its absence does not tell. */
const unixSockets = new WeakSet<object>()

/** Notes that a connection came by a unix socket; to be called by the `connection` event of a server that listens on one. */
export const noteUnixSocket = (socket: Socket): void => {
  unixSockets.add(socket)
}

/** The peer of a request that was not changed yet. */
export const of = (request: HttpServerRequest): Peer => {
  const { source } = request
  const address = Option.getOrUndefined(request.remoteAddress)
  const socket = isOfNode(source) ? (source.socket as TLSSocket) : undefined
  const isEncrypted = socket === undefined ? (source as Request).url.startsWith("https:") : socket.encrypted
  return {
    address: address === undefined ? undefined : Address.read(address),
    isLocal: socket === undefined || unixSockets.has(socket),
    scheme: isEncrypted ? "https" : "http"
  }
}
