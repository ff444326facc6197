/**
 * Entity tags (https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3).
 */
import * as HttpServerResponse from "effect/http/HttpServerResponse"

/** The answer with a tag that says that it means the same as others of the tag: of two codings, no byte is. */
export const withWeakEtag = (
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  const { etag } = response.headers
  return etag === undefined || etag.startsWith("W/")
    ? response
    : HttpServerResponse.setHeader(response, "etag", `W/${etag}`)
}
