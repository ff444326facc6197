/**
 * The body of a request as the host lets routes read it: no larger than the limit, no deeper than sensible, text in UTF-8
 * (or the `charset` that it says) or not at all, and YAML as if it were JSON.
 */
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpMethod from "effect/http/HttpMethod"
import type { HttpServerError } from "effect/http/HttpServerError"
import { TypeId as IncomingMessageTypeId } from "effect/http/HttpIncomingMessage"
import { type HttpServerRequest, TypeId as ServerRequestTypeId } from "effect/http/HttpServerRequest"
import * as UrlParams from "effect/http/UrlParams"
import { NodeInspectSymbol } from "effect/Inspectable"
import type * as Schema from "effect/Schema"
import * as BodyBytes from "./BodyBytes.ts"
import * as MediaType from "./MediaType.ts"
import * as Nesting from "./Nesting.ts"
import { BodyTooLarge, MalformedBody, UnsupportedMediaType } from "./RequestError.ts"
import * as Yaml from "./Yaml.ts"

/** The request with a body that is read by the host's rules. */
export const checked = (request: HttpServerRequest, maxSize: number, maxValues: number): HttpServerRequest => {
  if (!HttpMethod.hasBody(request.method)) return request
  const body = new RequestBody(request, request.headers["content-type"], maxSize, maxValues, undefined)
  return new CheckedRequest(
    body.isYaml
      ? request.modify({ headers: Headers.set(request.headers, "content-type", "application/json") })
      : request,
    body
  )
}

/** The same with a body in JSON whose bytes were read already. */
export const withBytes = (
  request: HttpServerRequest,
  contentType: string | undefined,
  bytes: BodyBytes.Bytes,
  maxSize: number,
  maxValues: number
): HttpServerRequest => new CheckedRequest(request, new RequestBody(request, contentType, maxSize, maxValues, bytes))

/** A body, and what was read of it. */
class RequestBody {
  readonly isYaml: boolean
  readonly #isJson: boolean
  readonly #request: HttpServerRequest
  readonly #contentType: string
  readonly #maxSize: number
  readonly #maxValues: number
  #bytes: Effect.Effect<Uint8Array, HttpServerError> | undefined
  #text: string | undefined

  constructor(
    request: HttpServerRequest,
    contentType: string | undefined,
    maxSize: number,
    maxValues: number,
    bytes: BodyBytes.Bytes | undefined
  ) {
    this.#contentType = contentType ?? "application/json"
    const mediaType = MediaType.essence(this.#contentType)
    this.isYaml = MediaType.isYaml(mediaType)
    this.#isJson = MediaType.isJson(mediaType)
    this.#request = request
    this.#maxSize = maxSize
    this.#maxValues = maxValues
    this.#bytes = bytes
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, HttpServerError> {
    return this.#readAs(({ buffer, byteLength, byteOffset }) =>
      buffer.byteLength === byteLength
        ? (buffer as ArrayBuffer)
        : (buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer)
    )
  }

  get text(): Effect.Effect<string, HttpServerError> {
    return this.#readAs((bytes) => this.#textOf(bytes))
  }

  get json(): Effect.Effect<Schema.Json, HttpServerError> {
    return this.#readAs((bytes) => {
      const text = this.#textOf(bytes)
      return parseJson(this.isYaml || this.#isJson ? text : bounded(text, this.#maxValues))
    })
  }

  get urlParamsBody(): Effect.Effect<UrlParams.UrlParams, HttpServerError> {
    return this.#readAs(parseForm)
  }

  get stream(): HttpServerRequest["stream"] {
    const tooLarge = () => new BodyTooLarge({ message: BodyBytes.tooLarge(this.#maxSize) })
    return BodyBytes.atMost(this.#request.stream, this.#maxSize, () => BodyBytes.errorOf(this.#request, tooLarge()))
  }

  #readAs<A>(read: (bytes: Uint8Array) => A): Effect.Effect<A, HttpServerError> {
    const toError = (cause: unknown) => BodyBytes.errorOf(this.#request, cause)
    this.#bytes ??= BodyBytes.read(this.#request, this.#maxSize, toError)
    return Effect.flatMapEager(this.#bytes, (bytes) => {
      try {
        return Effect.succeed(read(bytes))
      } catch (cause) {
        return Effect.fail(toError(cause))
      }
    })
  }

  #textOf(bytes: Uint8Array): string {
    if (this.#text === undefined) {
      const text = decode(bytes, MediaType.charset(this.#contentType))
      const json = this.isYaml ? Yaml.toJson(text, this.#maxSize) : text
      this.#text = this.isYaml || this.#isJson ? bounded(json, this.#maxValues) : text
    }
    return this.#text
  }
}

/** A request with another body. Whoever changes another part of it keeps that, and what was read of it. */
class CheckedRequest implements HttpServerRequest {
  readonly [ServerRequestTypeId] = ServerRequestTypeId
  readonly [IncomingMessageTypeId] = IncomingMessageTypeId
  readonly #request: HttpServerRequest
  readonly #body: RequestBody

  constructor(request: HttpServerRequest, body: RequestBody) {
    this.#request = request
    this.#body = body
  }

  get arrayBuffer() {
    return this.#body.arrayBuffer
  }
  get text() {
    return this.#body.text
  }
  get json() {
    return this.#body.json
  }
  get urlParamsBody() {
    return this.#body.urlParamsBody
  }
  get stream() {
    return this.#body.stream
  }
  modify(options: Parameters<HttpServerRequest["modify"]>[0]): HttpServerRequest {
    return new CheckedRequest(this.#request.modify(options), this.#body)
  }

  get source() {
    return this.#request.source
  }
  get method() {
    return this.#request.method
  }
  get url() {
    return this.#request.url
  }
  get originalUrl() {
    return this.#request.originalUrl
  }
  get protocol() {
    return this.#request.protocol
  }
  get headers() {
    return this.#request.headers
  }
  get cookies() {
    return this.#request.cookies
  }
  get remoteAddress() {
    return this.#request.remoteAddress
  }
  get peerAddress() {
    return this.#request.peerAddress
  }
  get multipart() {
    return this.#request.multipart
  }
  get multipartStream() {
    return this.#request.multipartStream
  }
  get upgrade() {
    return this.#request.upgrade
  }
  upgradeWith(options: Parameters<HttpServerRequest["upgradeWith"]>[0]) {
    return this.#request.upgradeWith(options)
  }
  /** Where the platform keeps its own answer, for `NodeHttpServerRequest.toServerResponse`. */
  get response(): unknown {
    return Reflect.get(this.#request, "response")
  }
  toString(): string {
    return this.#request.toString()
  }
  toJSON(): unknown {
    return this.#request.toJSON()
  }
  [NodeInspectSymbol](): unknown {
    return this.#request[NodeInspectSymbol]()
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const decode = (bytes: Uint8Array, charset: string | undefined): string =>
  decodeWith(charset === undefined ? utf8 : decoderOf(charset), bytes)

const decoderOf = (charset: string): TextDecoder => {
  try {
    return new TextDecoder(charset, { fatal: true })
  } catch {
    throw new UnsupportedMediaType()
  }
}

const decodeWith = (decoder: TextDecoder, bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    throw notIn(decoder.encoding)
  }
}

const notIn = (encoding: string): MalformedBody =>
  new MalformedBody({ message: `Expected text in ${encoding.toUpperCase()}` })

/** The text itself, unless it has too many values, or they nest too deeply. */
const bounded = (json: string, maxValues: number): string => {
  if (Nesting.isTooDeep(json)) throw new MalformedBody({ message: Nesting.tooDeep })
  if (Nesting.hasTooManyValues(json, maxValues)) {
    throw new BodyTooLarge({ message: `The body has more than ${maxValues} values.` })
  }
  return json
}

const parseJson = (text: string): Schema.Json => (text === "" ? null : JSON.parse(text))

const formText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The fields of a form. What escapes stand for is held to be UTF-8, too: the platform would put U+FFFD for what is not. */
const parseForm = (bytes: Uint8Array): UrlParams.UrlParams => {
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

/** What is wrong with a body that could not be read, where it is the body's own fault. */
export const malformation = (error: HttpServerError): string | undefined => {
  const { cause } = error.reason
  if (cause instanceof MalformedBody) return cause.message
  return cause instanceof SyntaxError ? "Expected valid JSON" : undefined
}
