/**
 * One request to the secret server and its answer, over Effect's HttpClient, with nothing in between that knows engines or
 * tokens' lives.
 *
 * The client's own spans and errors hold whole requests, and so the token and the secrets. They stop here: this module
 * makes spans of its own, and says in words what went wrong.
 */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** A request below `/v1/`. */
export interface Request {
  readonly method: "GET" | "POST" | "DELETE"
  /** Segments that need it are encoded already. */
  readonly path: string
  readonly body?: { readonly [name: string]: unknown }
  readonly token?: Redacted.Redacted
  readonly namespace?: string
  /** What the answer may have at most; absent, more than any secret that the server can keep. */
  readonly maxAnswerBytes?: number
}

/** What the server said, whatever it said. */
export interface Answer {
  readonly status: number
  /** The JSON; `undefined` where there is none. */
  readonly body: unknown
  /** The texts of an error answer; `undefined` where the body has no list of them. */
  readonly errors: ReadonlyArray<string> | undefined
  /** The seconds that the server asks to wait for. */
  readonly retryAfter: number | undefined
  /** Whether it answers a repetition: what was asked may have been done before. */
  readonly isRepeated?: boolean
}

/** There is no answer that could be understood. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", {
  reason: Schema.String,
  /** Whether the same request may fare better. */
  transient: Schema.Boolean,
  /** Whether the server may have got the request. */
  sent: Schema.Boolean
}) {
  override get message(): string {
    return `No answer of the secret server: ${this.reason}`
  }
}

/** Sends one request, once. */
export type Exchange = (request: Request) => Effect.Effect<Answer, NoAnswer>

const defaultMaxAnswerBytes = 4 * 1024 * 1024

/** The exchange with the server at a base URL. */
export const make = Effect.fnUntraced(function* (
  baseUrl: URL
): Effect.fn.Return<Exchange, never, HttpClient.HttpClient> {
  const client = yield* HttpClient.HttpClient
  const base = `${baseUrl.origin}${baseUrl.pathname.replace(/\/$/, "")}/v1/`
  const server = {
    "server.address": baseUrl.hostname.replace(/^\[|\]$/g, ""),
    "server.port": Number(baseUrl.port) || (baseUrl.protocol === "https:" ? 443 : 80)
  }

  return (request) => {
    const url = base + request.path
    return client.execute(toHttp(url, request)).pipe(
      Effect.flatMap((response) => Effect.andThen(traceStatus(response.status), read(response, request))),
      Effect.catchTag("HttpClientError", (error) => Effect.fail(fromHttp(error))),
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      // A span keeps the outcome of what it spans.
      Effect.map((answer) => Redacted.make(answer)),
      Effect.withSpan("SecretServer.request", {
        kind: "client",
        attributes: { ...server, "http.request.method": request.method, "url.full": url }
      }),
      Effect.map(Redacted.value)
    )
  }
})

const toHttp = (url: string, request: Request): HttpClientRequest.HttpClientRequest => {
  const http = HttpClientRequest.make(request.method)(url, {
    headers: {
      accept: "application/json",
      "x-vault-request": "true",
      ...(request.token !== undefined && { "x-vault-token": Redacted.value(request.token) }),
      ...(request.namespace !== undefined && { "x-vault-namespace": request.namespace })
    }
  })
  return request.body === undefined ? http : HttpClientRequest.bodyJsonUnsafe(http, request.body)
}

const traceStatus = (status: number) =>
  Effect.annotateCurrentSpan({
    "http.response.status_code": status,
    ...(status >= 400 && { "error.type": String(status) })
  })

const read = Effect.fnUntraced(function* (response: HttpClientResponse, request: Request) {
  const text = yield* readText(response, request.maxAnswerBytes ?? defaultMaxAnswerBytes)
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(response.headers["content-type"] ?? "")
  // Errors may come from a proxy on the way, whose pages say nothing that the status does not.
  const isError = response.status >= 400
  if (text.trim() !== "" && !isJson && !isError) {
    const type = /^[\w.+/-]{1,64}/.exec(response.headers["content-type"] ?? "")?.[0] ?? "no content type"
    return yield* new NoAnswer({ reason: `it answered with ${type} instead of JSON`, transient: false, sent: true })
  }
  const body = isJson ? parse(text) : Option.none()
  if (isJson && !isError && text.trim() !== "" && Option.isNone(body)) {
    return yield* new NoAnswer({
      reason: "it answered with JSON that breaks off or is none",
      transient: true,
      sent: true
    })
  }
  const value = Option.getOrUndefined(body)
  return {
    status: response.status,
    body: value,
    errors: errorsOf(value, request.token),
    retryAfter: retryAfterOf(response.headers["retry-after"])
  } satisfies Answer
})

const readText = (response: HttpClientResponse, maxAnswerBytes: number) =>
  response.stream.pipe(
    Stream.runFoldEffect(
      () => ({ chunks: [] as Array<Uint8Array>, bytes: 0 }),
      ({ bytes, chunks }, chunk) => {
        if (bytes + chunk.length > maxAnswerBytes) {
          const reason = `its answer is longer than ${maxAnswerBytes} bytes`
          return Effect.fail(new NoAnswer({ reason, transient: false, sent: true }))
        }
        chunks.push(chunk)
        return Effect.succeed({ chunks, bytes: bytes + chunk.length })
      }
    ),
    Effect.map(({ chunks }) => Buffer.concat(chunks).toString("utf8"))
  )

const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** What the server says stands in messages: a token that it, or a proxy on the way, quotes there does not. */
const errorsOf = (body: unknown, token: Redacted.Redacted | undefined): ReadonlyArray<string> | undefined => {
  const errors = Predicate.hasProperty(body, "errors") ? body.errors : undefined
  if (!Array.isArray(errors)) return undefined
  const sent = token === undefined ? "" : Redacted.value(token)
  return errors.map((error) =>
    (sent === "" ? String(error) : String(error).replaceAll(sent, "***")).replace(tokens, "***")
  )
}

/** The forms of Vault's and OpenBao's own tokens: service, batch and recovery ones, of any age. */
const tokens = /\b(?:hv)?[sbr]\.[\w-]{20,}/g

/** Whole seconds; the server does not use the form with a date. */
const retryAfterOf = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,9}$/.test(header.trim()) ? Number(header) : undefined

/** Only the code of the cause: its message may quote what was sent. */
const fromHttp = ({ reason }: HttpClientError.HttpClientError): NoAnswer => {
  const code = "cause" in reason ? codeOf(reason.cause) : undefined
  const what = reason._tag === "TransportError" ? "it cannot be reached" : "its answer broke off"
  return new NoAnswer({
    reason: code === undefined ? what : `${what} (${code})`,
    transient: true,
    sent: code === undefined || !connecting.test(code)
  })
}

/** Failures to find the server, to connect to it, and to trust it, all of which come before any request. */
const connecting = /^E(?:CONNREFUSED|NOTFOUND|AI_\w+|HOSTUNREACH|NETUNREACH)$|CONNECT_TIMEOUT|CERT|SIGNATURE|ISSUER/

const codeOf = (cause: unknown): string | undefined => {
  for (let error = cause, depth = 0; Predicate.isObject(error) && depth < 5; depth++) {
    // A host with several addresses fails with one error for each.
    const code = "code" in error ? error.code : undefined
    if (typeof code === "string" && /^[A-Z][A-Z0-9_]*$/.test(code)) return code
    error = "cause" in error ? error.cause : undefined
  }
  return undefined
}
