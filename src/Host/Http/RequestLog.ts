/** The request log: one line for each request that was answered. */
import * as Effect from "effect/Effect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"

/** A request with its answer. */
export interface Answered {
  readonly request: HttpServerRequest
  readonly response: HttpServerResponse
  /** The pattern of the route; absent where none matched. */
  readonly route: string | undefined
  readonly seconds: number
}

/**
 * Writes the line of a request, at `Information`. The path stands in it without its query, which may hold secrets.
 */
export const write = ({ request, response, route, seconds }: Answered): Effect.Effect<void> => {
  const path = request.url.split(/[?;#]/, 1)[0]!
  return Effect.annotateLogs(Effect.logInfo(`${request.method} ${path} ${response.status}`), {
    namespace: "layerhost.host.request",
    method: request.method,
    route: route ?? null,
    status: response.status,
    durationMs: Math.round(seconds * 1e5) / 100,
    clientAddress: Option.getOrNull(request.remoteAddress),
    bytes: "contentLength" in response.body ? (response.body.contentLength ?? null) : null
  })
}
