/**
 * One request to the secret server and its answer, with nothing in between that knows engines or tokens' lives.
 *
 * It goes straight to undici, which Effect's HttpClient would call too, but with a stream, a scope and a signal for each
 * answer, where the whole of it is read at once. What requests and answers hold, tokens and secrets among them, stays here:
 * spans have neither, and errors say in words what went wrong.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as HttpClientMetric from "../Plugins/HttpClientMetric.ts"
import type { Dispatcher } from "./SecretServerConnections.ts"
import { NoAnswer, type Received, SecretServerResponse } from "./SecretServerResponse.ts"

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

/** Something that waits for an answer, for as long as others say. */
export interface Waiting {
  /** Ends the wait with this error. Set for as long as there is something to wait for. */
  giveUp: ((error: NoAnswer) => void) | undefined
}

/** Sends one request, once. It ends without an answer when it is interrupted, or when whoever holds `waiting` gives up. */
export type Exchange = (request: Request, waiting?: Waiting) => Effect.Effect<Answer, NoAnswer>

const defaultMaxAnswerBytes = 4 * 1024 * 1024

/** The exchange with the server at a base URL. */
export const make = (dispatcher: Dispatcher, baseUrl: URL): Exchange => {
  const { origin } = baseUrl
  const basePath = `${baseUrl.pathname.replace(/\/$/, "")}/v1/`
  const server = HttpClientMetric.serverOf(baseUrl)
  const series = HttpClientMetric.seriesOf(server)

  const send: Exchange = (request, waiting) =>
    Effect.callback((resume) => {
      const response = new SecretServerResponse(request.maxAnswerBytes ?? defaultMaxAnswerBytes, (received) => {
        if (waiting !== undefined) waiting.giveUp = undefined
        resume(Effect.fromResult(Result.flatMap(received, (received) => understand(received, request.token))))
      })
      if (waiting !== undefined) waiting.giveUp = response.fail
      dispatcher.dispatch(
        {
          origin,
          path: basePath + request.path,
          method: request.method,
          headers: headersOf(request),
          body: request.body === undefined ? null : JSON.stringify(request.body),
          // Whoever waits knows how long.
          headersTimeout: 0,
          bodyTimeout: 0
        },
        response
      )
      return Effect.sync(response.abort)
    })

  const spanned: Exchange = (request, waiting) =>
    send(request, waiting).pipe(
      Effect.tap(traceStatus),
      Effect.tapError(traceStatus),
      // A span keeps the outcome of what it spans.
      Effect.map((answer) => Redacted.make(answer)),
      Effect.withSpan("SecretServer.request", {
        kind: "client",
        attributes: {
          ...server,
          "server.port": Number(server["server.port"]),
          "http.request.method": request.method,
          "url.full": origin + basePath + request.path
        }
      }),
      Effect.map(Redacted.value)
    )

  return (request, waiting) =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const start = clock.monotonicTimeNanosUnsafe()
      const sent = fiber.getRef(References.TracerEnabled) ? spanned(request, waiting) : send(request, waiting)
      return Effect.onExitPrimitive(sent, (exit) => {
        const seconds = Number(clock.monotonicTimeNanosUnsafe() - start) / 1e9
        series(request.method, outcomeOf(exit)).updateUnsafe(seconds, fiber.context)
        return undefined
      })
    })
}

/** The status, or the word that Effect's own client has for why there is none. */
const outcomeOf = (exit: Exit.Exit<Answer, NoAnswer>): number | string => {
  if (Exit.isSuccess(exit)) return exit.value.status
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  return error === undefined ? "Interrupt" : (error.status ?? "TransportError")
}

const traceStatus = ({ status }: { readonly status?: number }) =>
  status === undefined
    ? Effect.void
    : Effect.annotateCurrentSpan({
        "http.response.status_code": status,
        ...(status >= 400 && { "error.type": String(status) })
      })

const headersOf = ({ body, namespace, token }: Request): Array<string> => {
  const headers = ["accept", "application/json", "x-vault-request", "true"]
  if (token !== undefined) headers.push("x-vault-token", Redacted.value(token))
  if (namespace !== undefined) headers.push("x-vault-namespace", namespace)
  if (body !== undefined) headers.push("content-type", "application/json")
  return headers
}

/** What a response says, where it is one of the server. */
const understand = (
  { headers, status, text }: Received,
  token: Redacted.Redacted | undefined
): Result.Result<Answer, NoAnswer> => {
  const type = String(headers["content-type"] ?? "")
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(type)
  // Errors may come from a proxy on the way, whose pages say nothing that the status does not.
  const isError = status >= 400
  const isBlank = text.trim() === ""
  if (!isBlank && !isJson && !isError) {
    const told = /^[\w.+/-]{1,64}/.exec(type)?.[0] ?? "no content type"
    const reason = `it answered with ${told} instead of JSON`
    return Result.fail(new NoAnswer({ reason, transient: false, sent: true, status }))
  }
  const body = isJson ? parse(text) : Option.none()
  if (isJson && !isError && !isBlank && Option.isNone(body)) {
    const reason = "it answered with JSON that breaks off or is none"
    return Result.fail(new NoAnswer({ reason, transient: true, sent: true, status }))
  }
  const value = Option.getOrUndefined(body)
  const retryAfter = retryAfterOf(headers["retry-after"])
  return Result.succeed({ status, body: value, errors: errorsOf(value, token), retryAfter })
}

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
const retryAfterOf = (header: string | Array<string> | undefined): number | undefined =>
  typeof header === "string" && /^\d{1,9}$/.test(header.trim()) ? Number(header) : undefined
