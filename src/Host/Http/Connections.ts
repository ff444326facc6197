/**
 * What becomes of a server's connections once it closes.
 *
 * Node takes a connection for idle as soon as its answer is handed over, though much of a large one may still be on its way,
 * and looks for idle connections only once.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"

/** Lets answers that are on their way arrive when the server closes, and closes each connection as it becomes idle. */
export const finishAnswers = (server: Server): void => {
  const answers = new Set<ServerResponse>()
  const closeIdleConnections = server.closeIdleConnections.bind(server)
  let isClosing = false
  const closeIdle = (): void => {
    isClosing = true
    const isOnItsWay = (answer: ServerResponse) => answer.writableEnded && !answer.writableFinished
    if (![...answers].some(isOnItsWay)) closeIdleConnections()
  }
  const track = (_request: IncomingMessage, answer: ServerResponse): void => {
    answers.add(answer)
    answer.once("close", () => {
      answers.delete(answer)
      if (isClosing) closeIdle()
    })
  }
  // The server's own `close` calls this.
  server.closeIdleConnections = closeIdle
  server.on("request", track)
  server.on("checkContinue", track)
}
