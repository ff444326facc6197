/**
 * Conditional requests: a client that has the answer already is spared reading it again, by RFC 9110, sections 13.1.2 and
 * 13.1.3 (https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2).
 */
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Readable } from "node:stream"
import type { RequestHead } from "./RequestHead.ts"

/**
 * The answer itself, or 304 where it has an `ETag` or a `Last-Modified` and the client says that it has the same. To be called
 * with the headers that the answer is sent with: a cache finds by them what it has.
 */
export const answer = (
  response: HttpServerResponse.HttpServerResponse,
  request: RequestHead
): HttpServerResponse.HttpServerResponse => {
  if (response.status !== 200 || (request.method !== "GET" && request.method !== "HEAD")) return response
  if (!isKnown(response.headers, request.headers)) return response
  cancel(response)
  const {
    "content-encoding": _encoding,
    "content-length": _length,
    "content-type": _type,
    ...headers
  } = response.headers
  return HttpServerResponse.empty({ status: 304, headers, cookies: response.cookies })
}

type Headers = Readonly<Record<string, string | undefined>>

const isKnown = ({ etag, "last-modified": lastModified }: Headers, asked: Headers): boolean => {
  const known = asked["if-none-match"]
  if (known !== undefined)
    return etag !== undefined && (known.trim() === "*" || opaqueTags(known).includes(opaqueTags(etag)[0]))
  const since = asked["if-modified-since"]
  // What is no date is NaN, and no less than another.
  return since !== undefined && lastModified !== undefined && Date.parse(lastModified) <= Date.parse(since)
}

/** The tags of a list without their marks of being weak, since it is enough that the two mean the same. */
const opaqueTags = (list: string): ReadonlyArray<string | undefined> => list.match(/"[^"]*"/g) ?? []

/** A file that is not going to be read is closed. */
const cancel = ({ body }: HttpServerResponse.HttpServerResponse): void => {
  if (body._tag === "Raw" && body.body instanceof Readable) body.body.destroy()
}
