/**
 * What becomes of a server's connections once it closes.
 *
 * Node closes at once those that wait for a request, though one may be on its way; takes a connection for idle as soon as
 * its answer is handed over, though much of a large one may still be on its way; and looks for idle connections only once.
 */
import type { Server } from "node:http"
import type { Socket } from "node:net"

/** How often a server that closes looks for connections that have become idle, in milliseconds. */
const interval = 50

/**
 * Lets answers that are on their way arrive when the server closes, and so do requests: idle connections are closed once
 * nothing moved on any connection for `grace` milliseconds. An answer before that says that its connection is closed after it.
 */
export const finishAnswers = (server: Server, grace: number): void => {
  const sockets = new Set<Socket>()
  const note = (socket: Socket): void => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  }
  server.on("connection", note)
  server.on("secureConnection", note)

  const closeIdleConnections = server.closeIdleConnections.bind(server)
  let moved = -1
  let quietSince = 0
  const closeIdle = (): void => {
    const now = performance.now()
    const bytes = sockets.values().reduce((sum, socket) => sum + socket.bytesRead + socket.bytesWritten, 0)
    if (bytes !== moved) quietSince = now
    moved = bytes
    const isOnItsWay = (socket: Socket) => socket.writableLength > 0
    if (now - quietSince >= grace && !sockets.values().some(isOnItsWay)) closeIdleConnections()
  }
  // The server's own `close` calls this.
  server.closeIdleConnections = () => {
    closeIdle()
    const timer = setInterval(closeIdle, interval)
    server.once("close", () => clearInterval(timer))
  }
}
