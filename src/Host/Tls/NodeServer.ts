/**
 * Node's servers: HTTP/1.1 in the clear; HTTP/2 and HTTP/1.1 over TLS. Each holds clients to the host's limits.
 */
import type { Server as HttpServer, ServerResponse } from "node:http"
import type { Http2SecureServer, ServerHttp2Session, ServerHttp2Stream } from "node:http2"
import { Socket } from "node:net"
import { http } from "../Http/NodeHttp.ts"
import { millisOf, type ServerLimits, serverOptions } from "./ServerLimits.ts"
import type { ServedCertificate } from "./Tls.ts"

/** Loaded where a server speaks TLS, which most leave to a proxy. */
const http2 = () => process.getBuiltinModule("node:http2")

/** Makes a server that does not listen yet; with a certificate it speaks TLS. */
export const make = (limits: ServerLimits, certificate?: ServedCertificate): HttpServer => {
  const server =
    certificate === undefined ? http.createServer(serverOptions(limits)) : secureServer(limits, certificate)
  // One more than it may have shows that a request has too many; Node drops the rest without a word.
  server.maxHeadersCount = limits.maxHeaderCount + 1
  if (limits.maxConnections !== undefined) server.maxConnections = limits.maxConnections
  closeThoseWhoDoNotRead(server, millisOf(limits.sendTimeout))
  return server
}

const secureServer = (limits: ServerLimits, certificate: ServedCertificate): HttpServer => {
  const options = serverOptions(limits)
  const server = http2().createSecureServer({
    ...certificate.current.context,
    ...options,
    allowHTTP1: true,
    ...(options.headersTimeout > 0 ? { handshakeTimeout: options.headersTimeout } : undefined),
    settings: { maxConcurrentStreams: 100, maxHeaderListSize: limits.maxHeaderSize },
    // Beside the headers stand `:method`, `:scheme`, `:authority` and `:path`.
    maxHeaderListPairs: limits.maxHeaderCount + 4
  })
  server.once(
    "close",
    certificate.onRenewed(({ context }) => server.setSecureContext(context))
  )
  const sessions = limitSessions(server, limits)
  // What the rest of the host needs of a server, one for HTTP/2 has or is given.
  return Object.assign(server as unknown as HttpServer, {
    closeAllConnections: () => {
      http.Server.prototype.closeAllConnections.call(server)
      for (const session of sessions) session.destroy()
    }
  })
}

/** Closes HTTP/2 connections on which nothing happens, and streams whose request takes too long; Node has no limits there. */
const limitSessions = (server: Http2SecureServer, limits: ServerLimits): ReadonlySet<ServerHttp2Session> => {
  const sessions = new Set<ServerHttp2Session>()
  const { headersTimeout } = serverOptions(limits)
  server.on("session", (session) => {
    sessions.add(session)
    let streams = 0
    let cancelIdle = after(headersTimeout, () => session.close())
    session.on("stream", (stream: ServerHttp2Stream) => {
      streams++
      cancelIdle()
      const cancelRequest = after(millisOf(limits.requestTimeout), () => {
        if (!isReceived(stream)) stream.close(http2().constants.NGHTTP2_CANCEL)
      })
      closeIfNotRead(stream, millisOf(limits.sendTimeout))
      stream.once("close", () => {
        cancelRequest()
        if (--streams === 0) cancelIdle = after(millisOf(limits.keepAliveTimeout), () => session.close())
      })
    })
    session.once("close", () => {
      cancelIdle()
      sessions.delete(session)
    })
  })
  return sessions
}

const closeIfNotRead = (stream: ServerHttp2Stream, millis: number): void => {
  if (millis === 0) return
  stream.setTimeout(millis, () => {
    if (stream.writableLength > 0) stream.close(http2().constants.NGHTTP2_CANCEL)
    else closeIfNotRead(stream, millis)
  })
}

const isReceived = ({ endAfterHeaders, state }: ServerHttp2Stream): boolean =>
  endAfterHeaders || state.state === http2().constants.NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE

/** Does something later, unless the function that it gives is called before; a time of 0 never comes. */
const after = (millis: number, run: () => void): (() => void) => {
  if (millis === 0) return () => {}
  const timer = setTimeout(run, millis).unref()
  return () => clearTimeout(timer)
}

/**
 * Closes connections whose client takes nothing of what was sent to it. Node tells where nothing went either way for some
 * time; that an answer has nothing to say for so long, as a stream of events may, is not the client's fault.
 */
const closeThoseWhoDoNotRead = (server: HttpServer, millis: number): void => {
  if (millis === 0) return
  server.timeout = millis
  server.on("timeout", (socket: Socket | ServerHttp2Session) => {
    // HTTP/2 has many answers on a connection, each with its own time.
    if (!(socket instanceof Socket)) return
    if (isAnswering(socket) && socket.writableLength === 0) socket.setTimeout(millis)
    else socket.destroy()
  })
}

/** Whether an answer is under way. Node keeps it at its socket; to count answers apart would cost every request more. */
const isAnswering = (socket: Socket & { readonly _httpMessage?: ServerResponse | null }): boolean =>
  socket._httpMessage != null
