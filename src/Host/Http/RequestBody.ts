/**
 * The body of a request as the host lets routes read it: no larger than the limit, text in UTF-8 or not at all, and YAML as
 * if it were JSON.
 */
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpMethod from "effect/http/HttpMethod"
import { HttpServerError, RequestParseError } from "effect/http/HttpServerError"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Stream from "effect/Stream"
import * as MediaType from "./MediaType.ts"
import { BodyTooLarge, MalformedBody } from "./RequestError.ts"
import * as Yaml from "./Yaml.ts"

/** The request with a body that is read by the host's rules. */
export const checked = (request: HttpServerRequest, maxSize: number): HttpServerRequest => {
  if (!HttpMethod.hasBody(request.method)) return request
  const isYaml = MediaType.isYaml(MediaType.essence(request.headers["content-type"] ?? ""))
  let read: string | undefined
  const text = Effect.flatMap(request.arrayBuffer, (bytes) =>
    Effect.try({
      try: () => (read ??= isYaml ? Yaml.toJson(decode(bytes), maxSize) : decode(bytes)),
      catch: (cause) => parseError(request, cause)
    })
  )
  const stream = limited(request, maxSize)
  // Whoever changes another part of the request keeps the body, and what was read of it.
  const withBody = (base: HttpServerRequest): HttpServerRequest =>
    Object.create(base, {
      arrayBuffer: { get: () => request.arrayBuffer },
      text: { value: text },
      stream: { value: stream },
      modify: { value: (options: Parameters<typeof base.modify>[0]) => withBody(base.modify(options)) }
    })
  return withBody(
    isYaml ? request.modify({ headers: Headers.set(request.headers, "content-type", "application/json") }) : request
  )
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const decode = (bytes: ArrayBuffer): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new MalformedBody({ message: "Expected text in UTF-8" })
  }
}

const limited = (request: HttpServerRequest, maxSize: number): HttpServerRequest["stream"] =>
  Stream.suspend(() => {
    let size = 0
    return Stream.mapArrayEffect(request.stream, (chunks) => {
      for (const chunk of chunks) size += chunk.length
      return size > maxSize
        ? Effect.fail(parseError(request, new BodyTooLarge({ message: tooLarge(maxSize) })))
        : Effect.succeed(chunks)
    })
  })

/** What an answer says of a body that is larger than the limit. */
export const tooLarge = (maxSize: number): string => `The body is larger than ${maxSize} bytes.`

const parseError = (request: HttpServerRequest, cause: unknown): HttpServerError =>
  new HttpServerError({
    reason: new RequestParseError({ request, reason: cause instanceof BodyTooLarge ? "BodyTooLarge" : "Parse", cause })
  })

/** What is wrong with a body that could not be read, where it is the body's own fault. */
export const malformation = (error: HttpServerError): string | undefined => {
  const { cause } = error.reason
  if (cause instanceof MalformedBody) return cause.message
  return cause instanceof SyntaxError ? "Expected valid JSON" : undefined
}
