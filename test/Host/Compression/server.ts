/** A server over a socket, and a client that shows answers as they came, undecoded. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import { Agent, createServer, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http"
import type { AddressInfo } from "node:net"
import { buffer } from "node:stream/consumers"

/** Serves an effect on a free port until the scope closes. */
export const serve = Effect.fnUntraced(function* <E, R>(
  app: Effect.Effect<HttpServerResponse, E, R | HttpServerRequest | Scope.Scope>
) {
  const server = createServer()
  const http = yield* NodeHttpServer.make(() => server, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 })
  yield* http.serve(app)
  return (server.address() as AddressInfo).port
})

/** What a client sends. */
export interface Sent {
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
}

/** An answer as it came. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Sends a request, and gives the answer as soon as its headers are there; the connection ends with the scope. */
export const open = (
  port: number,
  { body, headers, method, path }: Sent
): Effect.Effect<IncomingMessage, Error, Scope.Scope> =>
  Effect.gen(function* () {
    const sent = yield* Effect.acquireRelease(
      Effect.sync(() => request({ port, path, method, headers, agent: new Agent() })),
      (sent) => Effect.sync(() => sent.destroy())
    )
    return yield* Effect.callback<IncomingMessage, Error>((resume) => {
      sent.on("response", (response) => resume(Effect.succeed(response)))
      sent.on("error", (error) => resume(Effect.fail(error)))
      sent.end(body)
    })
  })

/** Sends a request, and reads the whole answer. */
export const send = (port: number, sent: Sent): Effect.Effect<Answer, Error> =>
  Effect.scoped(
    Effect.flatMap(open(port, sent), (response) =>
      Effect.map(
        Effect.promise(() => buffer(response)),
        (body) => ({ status: response.statusCode!, headers: response.headers, body })
      )
    )
  )
