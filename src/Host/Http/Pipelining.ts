/**
 * Requests that a client sends before it has the answer to the one before: each begins when that is answered. Node would
 * begin them all at once, however many, and so also those that come behind an answer after which the connection is closed;
 * those must not have happened (RFC 9112, 9.6), since the client sends them again.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Gives the answer to the request that came last on a connection; of pipelined ones, it ends last, too. */
export type LastAnswer = (socket: Socket) => ServerResponse | undefined

/** How many requests of a connection may wait before nothing more is read of it. */
const limit = 100

interface Connection {
  last: ServerResponse
  /** How many requests wait for their turn. */
  waiting: number
}

/** Stops reading where too many wait. */
const holdBack = (socket: Socket, { waiting }: Connection): void => {
  if (waiting >= limit) socket.pause()
}

/** Lets a server begin requests of one connection one after the other. */
export const inOrder = (server: Server): LastAnswer => {
  const connections = new WeakMap<Socket, Connection>()
  const emit = server.emit.bind(server)

  // Node gives the connection to an answer when its turn comes; after the last answer it takes nothing more.
  const begin = (event: string, request: IncomingMessage, response: ServerResponse): boolean =>
    response.socket !== null && request.socket.writable && emit(event, request, response)

  const inTurn = (event: string, request: IncomingMessage, response: ServerResponse): boolean => {
    const { socket } = request
    const connection = connections.get(socket)
    if (connection === undefined) {
      connections.set(socket, { last: response, waiting: 0 })
      return begin(event, request, response)
    }
    const before = connection.last
    connection.last = response
    if (response.socket !== null) return begin(event, request, response)
    // Once this piece is parsed, since Node reads on at the end of each request.
    if (++connection.waiting % limit === 0) queueMicrotask(() => holdBack(socket, connection))
    const beginNext = (): void => {
      if (--connection.waiting < limit && socket.isPaused()) socket.resume()
      begin(event, request, response)
    }
    // Other connections have their turn in between.
    before.once("close", () => setImmediate(beginNext))
    return true
  }

  server.emit = (event: string, ...args: Array<unknown>): boolean => {
    if (event !== "request" && event !== "checkContinue") return emit(event, ...args)
    const [request, response] = args as [IncomingMessage, ServerResponse]
    // All streams of an HTTP/2 connection go on at once.
    return request.httpVersionMajor === 1 ? inTurn(event, request, response) : emit(event, request, response)
  }
  return (socket) => connections.get(socket)?.last
}
