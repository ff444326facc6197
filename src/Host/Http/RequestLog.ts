/** The request log: one line for each request that was answered. */
import * as Effect from "effect/Effect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import { maskQuery } from "../Logging/SecretNames.ts"
import { pathOf, queryOf } from "./RequestTarget.ts"

/** A request with its answer. */
export interface Answered {
  readonly request: HttpServerRequest
  readonly response: HttpServerResponse
  /** The pattern of the route; absent where none matched. */
  readonly route: string | undefined
  readonly seconds: number
}

/**
 * Writes the line of a request, at `Information`. The query stands in it only where the configuration asks for it, with the
 * values of secret-looking names masked.
 */
export const write = ({ request, response, route, seconds }: Answered, withQuery: boolean): Effect.Effect<void> => {
  const query = withQuery ? queryOf(request.url) : ""
  return Effect.annotateLogs(Effect.logInfo(`${request.method} ${pathOf(request.url)} ${response.status}`), {
    namespace: "layerhost.host.request",
    method: request.method,
    route: route ?? null,
    ...(query === "" ? undefined : { query: maskQuery(query) }),
    status: response.status,
    durationMs: Math.round(seconds * 1e5) / 100,
    clientAddress: Option.getOrNull(request.remoteAddress),
    bytes: "contentLength" in response.body ? (response.body.contentLength ?? null) : null
  })
}
