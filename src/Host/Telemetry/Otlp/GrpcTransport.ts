/** OTLP over gRPC (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md), unary calls over one connection. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as http2 from "node:http2"
import * as ProtobufReader from "./ProtobufReader.ts"
import { names } from "./Signal.ts"
import { maxAnswerSize, reasonOf, type Send, SendError, type TransportOptions } from "./Transport.ts"

/** How long a connection may take to answer a ping, after a call that was not answered. */
const pingTimeout = Duration.seconds(5)

/** Connects when there is something to send, and again after the connection was lost; disconnects when the scope closes. */
export const make = Effect.fnUntraced(function* (
  options: TransportOptions
): Effect.fn.Return<Send, never, Scope.Scope> {
  const scope = yield* Scope.Scope
  const connection = new Connection(options)
  yield* Effect.addFinalizer(() => Effect.sync(() => connection.close()))
  const headers = {
    ...options.headers,
    ":method": "POST",
    "content-type": "application/grpc",
    te: "trailers",
    "grpc-timeout": `${Math.ceil(Duration.toMillis(options.timeout))}m`
  }
  return (signal, body) =>
    Effect.callback<Uint8Array, SendError>((resume) => {
      const session = connection.session()
      const onError = (error: unknown) => resume(Effect.fail(failed(unavailable, reasonOf(error))))
      session.once("error", onError)
      const stream = session.request({ ...headers, ":path": names[signal].method })
      call(stream, body, resume)
      stream.once("close", () => session.off("error", onError))
      // Only this call has taken too long; others may be under way. The connection may be dead without either side knowing it.
      return Effect.sync(() => stream.close(http2.constants.NGHTTP2_CANCEL)).pipe(
        Effect.andThen(Effect.forkIn(closeIfDead(session), scope))
      )
    })
})

/** Closes a connection that is still being made, or over which no ping is answered. */
const closeIfDead = (session: http2.ClientHttp2Session): Effect.Effect<void> =>
  Effect.callback<boolean>((resume) => {
    if (session.connecting || session.destroyed) resume(Effect.succeed(false))
    // Where so many pings wait already that this one is not sent, the first of them decides.
    else if (!session.ping((error) => resume(Effect.succeed(error === null)))) resume(Effect.succeed(true))
  }).pipe(
    Effect.timeoutOrElse({ duration: pingTimeout, orElse: () => Effect.succeed(false) }),
    Effect.map((isAlive) => {
      if (!isAlive) session.destroy()
    })
  )

class Connection {
  readonly #options: TransportOptions
  #session: http2.ClientHttp2Session | undefined

  constructor(options: TransportOptions) {
    this.#options = options
  }

  session(): http2.ClientHttp2Session {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      const { endpoint, tls } = this.#options
      const session = http2.connect(endpoint.origin, tls)
      // Whoever waits for an answer hears of it; nobody does while the connection is at rest.
      session.on("error", () => session.destroy())
      session.on("goaway", () => session.close())
      this.#session = session
    }
    return this.#session
  }

  close(): void {
    this.#session?.destroy()
    this.#session = undefined
  }
}

const call = (
  stream: http2.ClientHttp2Stream,
  body: Uint8Array,
  resume: (effect: Effect.Effect<Uint8Array, SendError>) => void
): void => {
  const chunks: Array<Uint8Array> = []
  let size = 0
  // A call that fails at once has its status among the headers, any other among the trailers.
  let status: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader = {}
  stream.on("response", (headers) => (status = { ...status, ...headers }))
  stream.on("trailers", (trailers) => (status = { ...status, ...trailers }))
  stream.on("data", (chunk: Uint8Array) => {
    size += chunk.length
    if (size <= maxAnswerSize) chunks.push(chunk)
  })
  stream.on("error", (error) => resume(Effect.fail(failed(unavailable, reasonOf(error)))))
  stream.on("close", () => resume(result(status, Buffer.concat(chunks))))
  const frame = Buffer.alloc(5)
  frame.writeUInt32BE(body.length, 1)
  stream.write(frame)
  stream.end(body)
}

const result = (
  headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader,
  answer: Buffer
): Effect.Effect<Uint8Array, SendError> => {
  const code = headers["grpc-status"]
  if (code === undefined) {
    const status = headers[":status"]
    return Effect.fail(
      status === undefined || status === 200
        ? failed(unavailable, "the connection was closed before the answer was complete")
        : failed(
            [429, 502, 503, 504].includes(status) ? unavailable : unknown,
            `it answers ${status}, which is not gRPC`
          )
    )
  }
  if (code === "0") return Effect.succeed(answer.subarray(5))
  const message = textOf(headers["grpc-message"])
  return Effect.fail(
    failed(
      Number(code),
      `it answers with the gRPC status ${code}${message === "" ? "" : `: ${message}`}`,
      delayOf(headers)
    )
  )
}

/** Percent-encoded, and no more than a log line needs. */
const textOf = (message: string | ReadonlyArray<string> | undefined): string => {
  const text = String(message ?? "").slice(0, 1000)
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const unknown = 2
const resourceExhausted = 8
const unavailable = 14

/** CANCELLED, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS: OTLP has a client try again. */
const retryableCodes = new Set([1, 4, 10, 11, unavailable, 15])

const failed = (code: number, message: string, retryAfter?: Duration.Duration): SendError =>
  new SendError({
    message,
    // A collector that is exhausted says when to come again, or that there is no point in it.
    retryable: retryableCodes.has(code) || (code === resourceExhausted && retryAfter !== undefined),
    retryAfter
  })

/** The delay of a `google.rpc.RetryInfo` among the details of the status. */
const delayOf = (headers: http2.IncomingHttpHeaders): Duration.Duration | undefined => {
  const details = headers["grpc-status-details-bin"]
  if (details === undefined) return undefined
  for (const { number, value } of ProtobufReader.read(Buffer.from(String(details), "base64"))) {
    if (number !== 3 || typeof value === "bigint") continue
    const any = ProtobufReader.read(value)
    if (!ProtobufReader.textOf(any, 1).endsWith("/google.rpc.RetryInfo")) continue
    const info = ProtobufReader.read(ProtobufReader.bytesOf(any, 2) ?? new Uint8Array())
    const delay = ProtobufReader.read(ProtobufReader.bytesOf(info, 1) ?? new Uint8Array())
    return Duration.millis(ProtobufReader.integerOf(delay, 1) * 1e3 + ProtobufReader.integerOf(delay, 2) / 1e6)
  }
  return undefined
}
