/**
 * Requests that a client sends before it has the answer to the one before: each begins when that is answered. Node would
 * begin them all at once, and so also those that come behind an answer after which the connection is closed; those must not
 * have happened (RFC 9112, 9.6), since the client sends them again.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Gives the answer to the request that came last on a connection; of pipelined ones, it ends last, too. */
export type LastAnswer = (socket: Socket) => ServerResponse | undefined

/** Lets a server begin requests of one connection one after the other. */
export const inOrder = (server: Server): LastAnswer => {
  const last = new WeakMap<Socket, ServerResponse>()
  const emit = server.emit.bind(server)

  const begin = (event: string, request: IncomingMessage, response: ServerResponse): boolean => {
    // All streams of an HTTP/2 connection go on at once.
    if (request.httpVersionMajor !== 1) return emit(event, request, response)
    const { socket } = request
    const before = last.get(socket)
    last.set(socket, response)
    // Node gives the connection to an answer when its turn comes; after the last answer it takes nothing more.
    const beginNow = () => response.socket !== null && socket.writable && emit(event, request, response)
    if (response.socket !== null || before === undefined) return beginNow()
    before.once("close", beginNow)
    return true
  }

  server.emit = (event: string, ...args: Array<unknown>): boolean =>
    event === "request" || event === "checkContinue"
      ? begin(event, args[0] as IncomingMessage, args[1] as ServerResponse)
      : emit(event, ...args)
  return (socket) => last.get(socket)
}
