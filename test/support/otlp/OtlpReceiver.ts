/**
 * An OTLP collector for tests: takes traces, metrics and logs over gRPC, over HTTP as protobuf and as JSON, and keeps what it
 * got in one form. How it answers can be changed while it runs.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import * as http from "node:http"
import * as http2 from "node:http2"
import * as https from "node:https"
import type { AddressInfo, Server, Socket } from "node:net"
import { decodeRequest } from "./decode.ts"

export type Signal = "traces" | "metrics" | "logs"
export type Protocol = "grpc" | "http/protobuf" | "http/json"

/** A request that arrived. */
export interface Received {
  readonly signal: Signal
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
  readonly body: any
  readonly size: number
}

/** How a request is answered. */
export type Answer =
  | { readonly _tag: "Accept"; readonly rejected?: number }
  | { readonly _tag: "Status"; readonly status: number; readonly retryAfter?: string }
  | { readonly _tag: "GrpcStatus"; readonly code: number; readonly retryDelaySeconds?: number }
  | { readonly _tag: "Never" }
  /** Accepts, but not before. */
  | { readonly _tag: "Hold"; readonly until: Deferred.Deferred<void> }
  | { readonly _tag: "CloseMidBody" }

export interface OtlpReceiver {
  readonly url: string
  readonly port: number
  /** Everything that arrived, also what was answered by a failure. */
  readonly received: ReadonlyArray<Received>
  /** How many gRPC calls were cancelled by the client. */
  readonly cancelled: number
  answer: (signal: Signal, count: number) => Answer
  /** Resolves once a condition holds for what was received. */
  readonly until: (condition: (receiver: OtlpReceiver) => boolean) => Effect.Effect<void>
  readonly spans: ReadonlyArray<any>
  readonly logs: ReadonlyArray<any>
  readonly metrics: ReadonlyArray<any>
}

export interface ReceiverOptions {
  readonly port?: number
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca?: string; readonly requestCert?: boolean }
}

/** Listens on a loopback port until the scope closes. */
export const start = (protocol: Protocol, options: ReceiverOptions = {}): Effect.Effect<OtlpReceiver, never, Scope> =>
  Effect.gen(function* () {
    const receiver = new Receiver(protocol, options.tls !== undefined)
    const server = protocol === "grpc" ? grpcServer(receiver, options) : httpServer(receiver, protocol, options)
    const sockets = new Set<Socket>()
    server.on("connection", (socket: Socket) => {
      sockets.add(socket)
      socket.on("close", () => sockets.delete(socket))
    })
    yield* Effect.acquireRelease(
      Effect.promise(
        () =>
          new Promise<void>((resolve, reject) =>
            server.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve)
          )
      ),
      () =>
        Effect.promise(() => {
          const closed = new Promise<void>((resolve) => server.close(() => resolve()))
          for (const socket of sockets) socket.destroy()
          return closed
        })
    )
    receiver.port = (server.address() as AddressInfo).port
    return receiver
  })

class Receiver implements OtlpReceiver {
  readonly #scheme: string
  readonly protocol: Protocol
  port = 0
  readonly received: Array<Received> = []
  cancelled = 0
  answer: OtlpReceiver["answer"] = () => ({ _tag: "Accept" })
  readonly #waiting = new Set<() => void>()

  constructor(protocol: Protocol, isSecure: boolean) {
    this.protocol = protocol
    this.#scheme = isSecure ? "https" : "http"
  }

  get url(): string {
    return `${this.#scheme}://127.0.0.1:${this.port}`
  }

  until(condition: (receiver: OtlpReceiver) => boolean): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const check = () => {
        if (!condition(this)) return
        this.#waiting.delete(check)
        resume(Effect.void)
      }
      this.#waiting.add(check)
      check()
    })
  }

  add(received: Received): Answer {
    this.received.push(received)
    const count = this.received.filter(({ signal }) => signal === received.signal).length
    const answer = this.answer(received.signal, count)
    this.#changed()
    return answer
  }

  cancel(): void {
    this.cancelled++
    this.#changed()
  }

  #changed(): void {
    for (const check of this.#waiting) check()
  }

  get spans(): ReadonlyArray<any> {
    return this.#items("traces", ["resourceSpans", "scopeSpans", "spans"])
  }
  get logs(): ReadonlyArray<any> {
    return this.#items("logs", ["resourceLogs", "scopeLogs", "logRecords"])
  }
  get metrics(): ReadonlyArray<any> {
    return this.#items("metrics", ["resourceMetrics", "scopeMetrics", "metrics"])
  }

  #items(signal: Signal, path: ReadonlyArray<string>): ReadonlyArray<any> {
    return this.received
      .filter((each) => each.signal === signal)
      .flatMap((each) => path.reduce<Array<any>>((parts, name) => parts.flatMap((part) => part[name]), [each.body]))
  }
}

const httpServer = (receiver: Receiver, protocol: Protocol, { tls }: ReceiverOptions): Server => {
  const listener: http.RequestListener = async (request, response) => {
    const bytes = await readAll(request)
    if (bytes === undefined) return
    const signal = /^(?:\/prefix)?\/v1\/(traces|metrics|logs)$/.exec(request.url!)?.[1] as Signal | undefined
    const isJson = protocol === "http/json"
    if (request.method !== "POST" || signal === undefined) return void response.writeHead(404).end()
    if (request.headers["content-type"] !== (isJson ? "application/json" : "application/x-protobuf")) {
      return void response.writeHead(415).end()
    }
    const body = isJson ? JSON.parse(bytes.toString()) : decodeRequest(signal, bytes)
    const answer = receiver.add({ signal, headers: request.headers, body, size: bytes.length })
    if (answer._tag === "Hold") await Effect.runPromise(Deferred.await(answer.until))
    switch (answer._tag) {
      case "Hold":
      case "Accept": {
        const rejected = answer._tag === "Accept" ? (answer.rejected ?? 0) : 0
        const field = { traces: "rejectedSpans", metrics: "rejectedDataPoints", logs: "rejectedLogRecords" }[signal]
        response.writeHead(200, { "content-type": request.headers["content-type"] })
        response.end(
          isJson
            ? JSON.stringify(
                rejected === 0 ? {} : { partialSuccess: { [field]: String(rejected), errorMessage: "no" } }
              )
            : partialSuccess(rejected)
        )
        return
      }
      case "Status":
        response
          .writeHead(answer.status, answer.retryAfter === undefined ? {} : { "retry-after": answer.retryAfter })
          .end("no")
        return
      case "CloseMidBody":
        response.writeHead(200, { "content-length": "100" }).write("{")
        setImmediate(() => response.destroy())
        return
      case "Never":
      case "GrpcStatus":
    }
  }
  return tls === undefined ? http.createServer(listener) : https.createServer(tls, listener)
}

const grpcServer = (receiver: Receiver, { tls }: ReceiverOptions): Server => {
  const server = tls === undefined ? http2.createServer() : http2.createSecureServer(tls)
  server.on("stream", (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    stream.on("error", () => {})
    stream.on("aborted", () => stream.rstCode === http2.constants.NGHTTP2_CANCEL && receiver.cancel())
    const answerAll = async () => {
      const bytes = await readAll(stream)
      if (bytes === undefined) return
      const service = /^\/opentelemetry\.proto\.collector\.(\w+)\.v1\.(\w+)Service\/Export$/.exec(headers[":path"]!)
      const signal = { trace: "traces", metrics: "metrics", logs: "logs" }[service?.[1] ?? ""] as Signal
      if (headers["content-type"] !== "application/grpc" || headers["te"] !== "trailers") throw new Error("not gRPC")
      if (bytes[0] !== 0 || bytes.readUInt32BE(1) !== bytes.length - 5) throw new Error("a frame that is not whole")
      const body = decodeRequest(signal, bytes.subarray(5))
      const answer = receiver.add({ signal, headers, body, size: bytes.length })
      if (answer._tag === "Hold") await Effect.runPromise(Deferred.await(answer.until))
      switch (answer._tag) {
        case "Hold":
        case "Accept": {
          const message = partialSuccess(answer._tag === "Accept" ? (answer.rejected ?? 0) : 0)
          const frame = Buffer.alloc(5)
          frame.writeUInt32BE(message.length, 1)
          stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true })
          stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }))
          stream.end(Buffer.concat([frame, message]))
          return
        }
        case "GrpcStatus":
          stream.respond(
            {
              ":status": 200,
              "content-type": "application/grpc",
              "grpc-status": String(answer.code),
              "grpc-message": "not%20now",
              ...(answer.retryDelaySeconds === undefined
                ? undefined
                : { "grpc-status-details-bin": retryInfo(answer.code, answer.retryDelaySeconds) })
            },
            { endStream: true }
          )
          return
        case "Status":
          stream.respond({ ":status": answer.status }, { endStream: true })
          return
        case "CloseMidBody":
          stream.respond({ ":status": 200, "content-type": "application/grpc" })
          stream.write(Buffer.alloc(3))
          setImmediate(() => stream.session?.destroy())
          return
        case "Never":
      }
    }
    void answerAll()
  })
  return server as unknown as Server
}

/** The whole body; nothing where the connection ended in the middle of it. */
const readAll = async (stream: AsyncIterable<Buffer>): Promise<Buffer | undefined> => {
  const chunks: Array<Buffer> = []
  try {
    for await (const chunk of stream) chunks.push(chunk)
  } catch {
    return undefined
  }
  return Buffer.concat(chunks)
}

/** `{ partial_success: { rejected: n, error_message: "no" } }` */
const partialSuccess = (rejected: number): Buffer =>
  rejected === 0 ? Buffer.alloc(0) : Buffer.from([0x0a, 6, 0x08, rejected, 0x12, 2, 0x6e, 0x6f])

/** A `google.rpc.Status` with a `RetryInfo` of so many seconds, in base64. */
const retryInfo = (code: number, seconds: number): string => {
  const info = Buffer.from([0x0a, 2, 0x08, seconds])
  const type = Buffer.from("type.googleapis.com/google.rpc.RetryInfo")
  const any = Buffer.concat([Buffer.from([0x0a, type.length]), type, Buffer.from([0x12, info.length]), info])
  return Buffer.concat([Buffer.from([0x08, code, 0x1a, any.length]), any]).toString("base64")
}
