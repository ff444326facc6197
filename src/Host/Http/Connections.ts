/**
 * What becomes of a server's connections once it closes.
 *
 * Node takes a connection for idle as soon as its answer is handed over, though much of a large one may still be on its way,
 * and looks for idle connections only once.
 */
import type { Server } from "node:http"
import type { Socket } from "node:net"

/** How often a server that closes looks for connections that have become idle, in milliseconds. */
const interval = 50

/** Lets answers that are on their way arrive when the server closes, and closes each connection as it becomes idle. */
export const finishAnswers = (server: Server): void => {
  const sockets = new Set<Socket>()
  const note = (socket: Socket): void => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  }
  server.on("connection", note)
  server.on("secureConnection", note)

  const closeIdleConnections = server.closeIdleConnections.bind(server)
  const closeIdle = (): void => {
    const isOnItsWay = (socket: Socket) => socket.writableLength > 0
    if (![...sockets].some(isOnItsWay)) closeIdleConnections()
  }
  // The server's own `close` calls this.
  server.closeIdleConnections = () => {
    closeIdle()
    const timer = setInterval(closeIdle, interval)
    server.once("close", () => clearInterval(timer))
  }
}
