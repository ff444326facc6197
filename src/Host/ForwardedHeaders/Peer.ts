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
  /** As the connection spells it. */
  readonly remoteAddress: string | undefined
  /** In one spelling. */
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
  const remoteAddress = Option.getOrUndefined(request.remoteAddress)
  return isOfNode(source)
    ? onSocket(remoteAddress, source.socket)
    : make(remoteAddress, true, (source as Request).url.startsWith("https:"))
}

const peers = new WeakMap<Socket, Peer>()

/** The peer of all requests over a connection. */
export const ofSocket = (socket: Socket): Peer => {
  let peer = peers.get(socket)
  if (peer === undefined) peers.set(socket, (peer = onSocket(socket.remoteAddress, socket)))
  return peer
}

const onSocket = (remoteAddress: string | undefined, socket: Socket): Peer =>
  make(remoteAddress, unixSockets.has(socket), (socket as TLSSocket).encrypted)

const make = (remoteAddress: string | undefined, isLocal: boolean, isEncrypted: boolean): Peer => ({
  remoteAddress,
  address: remoteAddress === undefined ? undefined : Address.read(remoteAddress),
  isLocal,
  scheme: isEncrypted ? "https" : "http"
})
