/**
 * The body of a request as the host lets routes read it: no larger than the limit, no deeper than sensible, text in UTF-8
 * (or the `charset` that it says) or not at all, and YAML as if it were JSON.
 */
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpMethod from "effect/http/HttpMethod"
import { HttpServerError, RequestParseError } from "effect/http/HttpServerError"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as UrlParams from "effect/http/UrlParams"
import * as Stream from "effect/Stream"
import * as MediaType from "./MediaType.ts"
import * as Nesting from "./Nesting.ts"
import { BodyTooLarge, MalformedBody, UnsupportedMediaType } from "./RequestError.ts"
import * as Yaml from "./Yaml.ts"

/** The request with a body that is read by the host's rules. */
export const checked = (request: HttpServerRequest, maxSize: number): HttpServerRequest => {
  if (!HttpMethod.hasBody(request.method)) return request
  const contentType = request.headers["content-type"] ?? "application/json"
  const mediaType = MediaType.essence(contentType)
  const isYaml = MediaType.isYaml(mediaType)
  const isJson = MediaType.isJson(mediaType)
  const readAs = <A>(read: (bytes: ArrayBuffer) => A): Effect.Effect<A, HttpServerError> =>
    Effect.flatMap(request.arrayBuffer, (bytes) =>
      Effect.try({ try: () => read(bytes), catch: (cause) => parseError(request, cause) })
    )
  let known: string | undefined
  const textOf = (bytes: ArrayBuffer): string => {
    if (known === undefined) {
      const text = decode(bytes, MediaType.charset(contentType))
      known = isYaml ? Yaml.toJson(text, maxSize) : isJson ? shallow(text) : text
    }
    return known
  }
  const text = readAs(textOf)
  const stream = limited(request, maxSize)
  // Whoever changes another part of the request keeps the body, and what was read of it.
  const withBody = (base: HttpServerRequest): HttpServerRequest =>
    Object.create(base, {
      arrayBuffer: { get: () => request.arrayBuffer },
      text: { value: text },
      json: { get: () => readAs((bytes) => parseJson(isYaml || isJson ? textOf(bytes) : shallow(textOf(bytes)))) },
      urlParamsBody: { get: () => readAs(parseForm) },
      stream: { value: stream },
      modify: { value: (options: Parameters<typeof base.modify>[0]) => withBody(base.modify(options)) }
    })
  return withBody(
    isYaml ? request.modify({ headers: Headers.set(request.headers, "content-type", "application/json") }) : request
  )
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const decode = (bytes: ArrayBuffer, charset: string | undefined): string =>
  decodeWith(charset === undefined ? utf8 : decoderOf(charset), bytes)

const decoderOf = (charset: string): TextDecoder => {
  try {
    return new TextDecoder(charset, { fatal: true })
  } catch {
    throw new UnsupportedMediaType()
  }
}

const decodeWith = (decoder: TextDecoder, bytes: ArrayBuffer): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    throw notIn(decoder.encoding)
  }
}

const notIn = (encoding: string): MalformedBody =>
  new MalformedBody({ message: `Expected text in ${encoding.toUpperCase()}` })

/** The text itself, unless its values nest too deeply. */
const shallow = (json: string): string => {
  if (Nesting.isTooDeep(json)) throw new MalformedBody({ message: Nesting.tooDeep })
  return json
}

const parseJson = (text: string): unknown => (text === "" ? null : JSON.parse(text))

const formText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The fields of a form. What escapes stand for is held to be UTF-8, too: the platform would put U+FFFD for what is not. */
const parseForm = (bytes: ArrayBuffer): UrlParams.UrlParams => {
  const text = decodeWith(formText, bytes)
  if (/%[89a-f]/i.test(text)) checkEscapes(text)
  // A question mark at the start is data, and not that of a query.
  return UrlParams.fromInput(new URLSearchParams(text.replace(/^\?/, "%3F")))
}

const checkEscapes = (text: string): void => {
  for (const [escapes] of text.matchAll(/(?:%[\da-f]{2})+/gi)) {
    try {
      decodeURIComponent(escapes)
    } catch {
      throw notIn("utf-8")
    }
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
