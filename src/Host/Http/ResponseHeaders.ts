/** The headers of an answer while the host adds its own. */
import * as Headers from "effect/http/Headers"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"

/** Headers by their names in lower case, which may still change. */
export type ResponseHeaders = Record<string, string>

/** The headers of an answer, to be changed. */
export const of = (response: HttpServerResponse): ResponseHeaders => ({ ...response.headers })

/**
 * The answer with these headers in the place of its own; they must not change any more.
 *
 * Effect's own setters copy all headers each time, and the host sets about ten on every answer.
 */
export const put = (response: HttpServerResponse, headers: ResponseHeaders): HttpServerResponse => {
  const own = { headers: Headers.fromRecordUnsafe(headers) }
  return Object.assign(Object.create(Object.getPrototypeOf(response)), response, own)
}
