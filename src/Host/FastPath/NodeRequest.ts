/**
 * A plain request over HTTP/1 as its handler sees it: what Effect's platform makes of a request, with the ends that were found,
 * and nothing read of it before somebody asks.
 */
import { NodeHttpIncomingMessage } from "@effect/platform-node/NodeHttpIncomingMessage"
import * as NodeMultipart from "@effect/platform-node/NodeMultipart"
import * as Effect from "effect/Effect"
import * as Cookies from "effect/http/Cookies"
import * as Headers from "effect/http/Headers"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type { HttpMethod } from "effect/http/HttpMethod"
import { HttpServerError, RequestParseError } from "effect/http/HttpServerError"
import { type HttpServerRequest, TypeId } from "effect/http/HttpServerRequest"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Peer from "../ForwardedHeaders/Peer.ts"
import * as BodyBytes from "../Http/BodyBytes.ts"
import type { Exchange } from "../Http/Exchange.ts"

type Changes = Parameters<HttpServerRequest["modify"]>[0]

/** A request of an exchange. */
export class NodeRequest extends NodeHttpIncomingMessage<HttpServerError> implements HttpServerRequest {
  readonly [TypeId]: typeof TypeId = TypeId
  protected override readonly destroyOnOverflow = false
  protected override readonly closeOnDone = false
  /** Where the platform keeps its own answer, for `NodeHttpServerRequest.toServerResponse`. */
  readonly response: ServerResponse
  readonly #exchange: Exchange
  readonly #changes: Changes
  #headers: Headers.Headers | undefined
  #multipart: HttpServerRequest["multipart"] | undefined

  constructor(source: IncomingMessage, response: ServerResponse, exchange: Exchange, changes: Changes = unchanged) {
    super(source, (cause) => BodyBytes.errorOf(this, cause))
    this.response = response
    this.#exchange = exchange
    this.#changes = changes
  }

  modify(changes: Changes): HttpServerRequest {
    return new NodeRequest(this.source, this.response, this.#exchange, { ...this.#changes, ...changes })
  }

  get method(): HttpMethod {
    return this.#exchange.method as HttpMethod
  }
  get url(): string {
    return this.#changes.url ?? this.#exchange.url
  }
  get originalUrl(): string {
    const { headers, socket, url } = this.source
    if (headers.host === undefined) return url!
    return `${"encrypted" in socket && socket.encrypted ? "https" : "http"}://${headers.host}${url}`
  }
  get protocol(): "http" | "https" | undefined {
    const { areAsSent, scheme } = this.#exchange.ends
    return this.#changes.protocol ?? (areAsSent ? undefined : scheme)
  }
  override get headers(): Headers.Headers {
    return (this.#headers ??= this.#changes.headers ?? Headers.fromInput(this.#exchange.headers))
  }
  get cookies() {
    return Cookies.parseHeader(this.headers["cookie"] ?? "")
  }
  override get remoteAddress(): Option.Option<string> {
    return this.#changes.remoteAddress ?? Option.fromUndefinedOr(this.#exchange.clientAddress)
  }
  get peerAddress(): Option.Option<string> {
    if (this.#changes.peerAddress !== undefined) return this.#changes.peerAddress
    return this.#exchange.ends.areAsSent
      ? this.remoteAddress
      : Option.fromUndefinedOr(Peer.ofSocket(this.source.socket).remoteAddress)
  }

  get multipart(): HttpServerRequest["multipart"] {
    return (this.#multipart ??= Effect.runSync(
      Effect.cached(Effect.suspend(() => NodeMultipart.persisted(this.source, this.source.headers)))
    ))
  }
  get multipartStream(): HttpServerRequest["multipartStream"] {
    return NodeMultipart.stream(this.source, this.source.headers)
  }
  get upgrade(): HttpServerRequest["upgrade"] {
    return this.upgradeWith()
  }
  upgradeWith(): HttpServerRequest["upgrade"] {
    const description = "not an upgradeable ServerRequest"
    return Effect.fail(new HttpServerError({ reason: new RequestParseError({ request: this, description }) }))
  }

  override toString(): string {
    return `ServerRequest(${this.method} ${UrlParams.redactUrl(this.url)})`
  }
  toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, {
      _id: "HttpServerRequest",
      method: this.method,
      url: UrlParams.redactUrl(this.originalUrl)
    })
  }
}

const unchanged: Changes = {}
