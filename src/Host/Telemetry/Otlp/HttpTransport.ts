/** OTLP over HTTP/1.1 (https://opentelemetry.io/docs/specs/otlp/#otlphttp). */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as EffectHeaders from "effect/http/Headers"
import * as Result from "effect/Result"
import type { Scope } from "effect/Scope"
import * as http from "node:http"
import * as https from "node:https"
import { names } from "./Signal.ts"
import { maxAnswerSize, reasonOf, type Send, SendError, type TransportOptions } from "./Transport.ts"

/** Keeps its connections until the scope closes. */
export const make = Effect.fnUntraced(function* (options: TransportOptions): Effect.fn.Return<Send, never, Scope> {
  const { contentType, endpoint, headers, tls } = options
  const isSecure = endpoint.protocol === "https:"
  const client = isSecure ? https : http
  const agent = yield* Effect.acquireRelease(
    Effect.sync(() => (isSecure ? new https.Agent({ keepAlive: true, ...tls }) : new http.Agent({ keepAlive: true }))),
    (agent) => Effect.sync(() => agent.destroy())
  )
  const base = endpoint.href.replace(/\/+$/, "")

  return (signal, body) =>
    Effect.callback<Uint8Array, SendError>((resume) => {
      let request: http.ClientRequest
      const send = () => {
        request = client.request(`${base}${names[signal].path}`, {
          method: "POST",
          agent,
          headers: { ...headers, "content-type": contentType, "content-length": body.length }
        })
        request.on("response", (response) => answer(response, resume))
        request.on("error", (error: NodeJS.ErrnoException) => {
          // The collector has closed a connection that was at rest; that says nothing of the collector.
          if (request.reusedSocket && error.code === "ECONNRESET") send()
          else resume(Effect.fail(unreachable(reasonOf(error))))
        })
        request.end(body)
      }
      send()
      return Effect.sync(() => request.destroy())
    })
})

const answer = (
  response: http.IncomingMessage,
  resume: (effect: Effect.Effect<Uint8Array, SendError>) => void
): void => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  response.on("data", (chunk: Uint8Array) => {
    size += chunk.length
    if (size <= maxAnswerSize) chunks.push(chunk)
    else response.destroy()
  })
  // After whatever end, once.
  response.on("close", () => {
    const status = response.statusCode ?? 0
    if (status >= 300) return resume(Effect.fail(refused(status, response.headers["retry-after"])))
    if (!response.complete && size <= maxAnswerSize) {
      return resume(Effect.fail(unreachable("the connection was closed in the middle of the answer")))
    }
    resume(Effect.succeed(Buffer.concat(chunks)))
  })
  response.on("error", () => response.destroy())
}

const unreachable = (message: string): SendError => new SendError({ message, retryable: true, retryAfter: undefined })

/** The statuses after which OTLP has a client try again. */
const retryableStatuses = new Set([429, 502, 503, 504])

const refused = (status: number, retryAfter: string | undefined): SendError =>
  new SendError({
    message: `it answers ${status}${http.STATUS_CODES[status] === undefined ? "" : ` ${http.STATUS_CODES[status]}`}`,
    retryable: retryableStatuses.has(status),
    retryAfter: retryAfter === undefined ? undefined : delayOf(retryAfter)
  })

const delayOf = (retryAfter: string): Duration.Duration | undefined => {
  const parsed = EffectHeaders.parseRetryAfter(retryAfter)
  return Result.isSuccess(parsed) ? EffectHeaders.retryAfterDelay(parsed.success, Date.now()) : undefined
}
