/**
 * Requests that Node refuses before there is one: malformed, too slow, with headers that are too large. They get an answer like
 * any other error, and a line in the log.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { randomUUID } from "node:crypto"
import type { Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as Address from "../ForwardedHeaders/Address.ts"
import type { LastAnswer } from "./Pipelining.ts"
import * as Problem from "./Problem.ts"
import * as RequestId from "./RequestId.ts"

/** What Node found wrong, by its own code or that of its parser. */
interface ClientError extends Error {
  readonly code?: string
}

const refused = Metric.counter("layerhost.http.refused_requests", {
  description:
    "Requests that were refused before they could be read: malformed, too slow, or with headers that are too large",
  incremental: true
})

/** How long a request that Node gave up on has to be answered by its handler. */
const grace = 1_000

/** Answers what the server refuses, in the scope's log and metrics. */
export const answer = Effect.fnUntraced(function* (server: Server, lastAnswer: LastAnswer) {
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const seen = new WeakSet<Socket>()
  server.on("clientError", (error: ClientError, socket: Socket) => {
    // What comes behind a fault is one, too.
    if (seen.has(socket)) return
    seen.add(socket)
    const last = lastAnswer(socket)
    const problem = problemOf(error)
    if (problem === undefined || !socket.writable || socket.bytesRead === 0) socket.destroy()
    else if (last === undefined || last.closed) run(refuse(socket, problem))
    // The answers that are due come first, and nobody may take this for one of them.
    else if (last.req.complete) last.once("close", () => run(refuse(socket, problem)))
    else failBody(last, error)
  })
})

/** Ends the body of a request that is being handled, whose handler then fails, and is answered as after any failure. */
const failBody = (response: ServerResponse, error: ClientError): void => {
  const { req } = response
  // A client that ends its side in the midst of a body has left.
  const hasLeft = error.code === "HPE_INVALID_EOF_STATE"
  if (hasLeft || response.headersSent || req.listenerCount("error") === 0) {
    req.socket.destroy()
    return
  }
  const givingUp = setTimeout(() => req.socket.destroy(), grace)
  response.once("close", () => clearTimeout(givingUp))
  // Who reads the body destroys what fails, and with it the connection that the answer is to take.
  req.destroy = () => req
  req.emit("error", error)
}

const refuse = Effect.fnUntraced(function* (socket: Socket, problem: Problem.Problem) {
  if (!socket.writable) return
  const requestId = randomUUID()
  const now = new Date(yield* Clock.currentTimeMillis)
  const body = JSON.stringify(Problem.toJson(problem, { requestId, timestamp: now.toISOString() }))
  const { status } = problem
  const head = [
    `HTTP/1.1 ${status} ${Problem.titleOf(status)}`,
    `Date: ${now.toUTCString()}`,
    `Content-Type: ${Problem.contentType}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `${RequestId.header}: ${requestId}`,
    "Connection: close"
  ]
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`)
  socket.destroySoon()
  yield* Metric.update(Metric.withAttributes(refused, { "http.response.status_code": String(status) }), 1)
  yield* Effect.annotateLogs(Effect.logInfo(`Refused a request ${status}`), {
    namespace: "layerhost.host.request",
    requestId,
    status,
    reason: problem.detail,
    clientAddress: Address.read(socket.remoteAddress ?? "") ?? null
  })
})

/** What a client is told that sent what Node cannot take; absent where the connection itself failed. */
export const problemOf = ({ code }: ClientError): Problem.Problem | undefined => {
  const told = problems.get(code ?? "") ?? (code?.startsWith("HPE_") === true ? malformed : undefined)
  return told && { ...told, headers: { connection: "close" } }
}

const malformed: Problem.Problem = { status: 400, detail: "The request is not valid HTTP." }

const problems: ReadonlyMap<string, Problem.Problem> = new Map([
  ["ERR_HTTP_REQUEST_TIMEOUT", { status: 408, detail: "The request did not come in time." }],
  ["HPE_HEADER_OVERFLOW", { status: 431, detail: "The headers of the request are too large." }],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", { status: 413, detail: "The chunk extensions of the body are too large." }]
])
