import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { readFileSync } from "node:fs"
import { type AddressInfo, connect as connectTo, createServer, type Socket } from "node:net"
import { join } from "node:path"
import * as GrpcTransport from "../../../src/Host/Telemetry/Otlp/GrpcTransport.ts"
import * as HttpTransport from "../../../src/Host/Telemetry/Otlp/HttpTransport.ts"
import type { SendError, TlsOptions } from "../../../src/Host/Telemetry/Otlp/Transport.ts"
import * as Tls from "../../../src/Host/Telemetry/Tls.ts"
import * as OtlpReceiver from "../../support/otlp/OtlpReceiver.ts"

type Protocol = "grpc" | "http/protobuf"

const connect = (protocol: Protocol, url: string, tls: TlsOptions = {}) =>
  (protocol === "grpc" ? GrpcTransport : HttpTransport).make({
    endpoint: new URL(url),
    contentType: "application/x-protobuf",
    headers: { "x-tenant": "shop" },
    tls,
    timeout: Duration.seconds(10)
  })

/** An empty export request. */
const body = new Uint8Array()

const summary = ({ message, retryAfter, retryable }: SendError) => ({
  message,
  retryable,
  retryAfter: retryAfter === undefined ? undefined : Duration.toSeconds(retryAfter)
})

const answers: ReadonlyArray<readonly [Protocol, OtlpReceiver.Answer, ReturnType<typeof summary>]> = [
  ...[429, 502, 503, 504].map(
    (status) =>
      [
        "http/protobuf",
        { _tag: "Status", status },
        { message: expect.stringContaining(`it answers ${status} `), retryable: true, retryAfter: undefined }
      ] as const
  ),
  ...[302, 400, 401, 404, 413, 415, 500].map(
    (status) =>
      [
        "http/protobuf",
        { _tag: "Status", status },
        { message: expect.stringContaining(`it answers ${status} `), retryable: false, retryAfter: undefined }
      ] as const
  ),
  [
    "http/protobuf",
    { _tag: "Status", status: 429, retryAfter: "7" },
    { message: "it answers 429 Too Many Requests", retryable: true, retryAfter: 7 }
  ],
  [
    "http/protobuf",
    { _tag: "Status", status: 503, retryAfter: "soon" },
    { message: "it answers 503 Service Unavailable", retryable: true, retryAfter: undefined }
  ],
  [
    "http/protobuf",
    { _tag: "CloseMidBody" },
    { message: "the connection was closed in the middle of the answer", retryable: true, retryAfter: undefined }
  ],
  ...[1, 4, 10, 11, 14, 15].map(
    (code) =>
      [
        "grpc",
        { _tag: "GrpcStatus", code },
        { message: `it answers with the gRPC status ${code}: not now`, retryable: true, retryAfter: undefined }
      ] as const
  ),
  ...[2, 3, 5, 6, 7, 8, 9, 12, 13, 16].map(
    (code) =>
      [
        "grpc",
        { _tag: "GrpcStatus", code },
        { message: `it answers with the gRPC status ${code}: not now`, retryable: false, retryAfter: undefined }
      ] as const
  ),
  [
    "grpc",
    { _tag: "GrpcStatus", code: 8, retryDelaySeconds: 9 },
    { message: "it answers with the gRPC status 8: not now", retryable: true, retryAfter: 9 }
  ],
  [
    "grpc",
    { _tag: "GrpcStatus", code: 14, retryDelaySeconds: 9 },
    { message: "it answers with the gRPC status 14: not now", retryable: true, retryAfter: 9 }
  ],
  [
    "grpc",
    { _tag: "Status", status: 404 },
    { message: "it answers 404, which is not gRPC", retryable: false, retryAfter: undefined }
  ],
  [
    "grpc",
    { _tag: "Status", status: 503 },
    { message: "it answers 503, which is not gRPC", retryable: true, retryAfter: undefined }
  ],
  ["grpc", { _tag: "CloseMidBody" }, { message: expect.any(String), retryable: true, retryAfter: undefined }]
]

describe("A collector that answers", () => {
  it.effect.each(answers)("%s %j", ([protocol, answer, expected]) =>
    Effect.gen(function* () {
      const receiver = yield* OtlpReceiver.start(protocol)
      receiver.answer = () => answer
      const send = yield* connect(protocol, receiver.url)
      expect(summary(yield* Effect.flip(send("traces", body)))).toEqual(expected)
      // It was no more than that one answer.
      receiver.answer = () => ({ _tag: "Accept" })
      yield* send("traces", body)
      expect(receiver.received.length).toBe(2)
      expect(receiver.received[0]!.headers["x-tenant"]).toBe("shop")
    }).pipe(Effect.scoped)
  )
})

describe("A call over gRPC that is not answered in time", () => {
  /** A way to a port that can go dead: both ends stay open, but nothing gets through. */
  const tunnel = (port: number) =>
    Effect.gen(function* () {
      const state = { isDead: false, connections: 0, closed: 0, url: "" }
      const sockets: Array<Socket> = []
      const server = createServer((socket) => {
        state.connections++
        const other = connectTo(port, "127.0.0.1")
        sockets.push(socket, other)
        socket.on("data", (data) => void (state.isDead || other.write(data)))
        other.on("data", (data) => void (state.isDead || socket.write(data)))
        for (const each of [socket, other]) each.on("error", () => {})
        socket.on("close", () => {
          state.closed++
          other.destroy()
        })
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
        () =>
          Effect.sync(() => {
            for (const socket of sockets) socket.destroy()
            server.close()
          })
      )
      state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      return state
    })

  it.effect("is cancelled alone: the connection and the calls beside it go on", () =>
    Effect.gen(function* () {
      const receiver = yield* OtlpReceiver.start("grpc")
      const way = yield* tunnel(receiver.port)
      const answered = yield* Deferred.make<void>()
      receiver.answer = (signal) => (signal === "traces" ? { _tag: "Never" } : { _tag: "Hold", until: answered })
      const send = yield* connect("grpc", way.url)
      const beside = yield* Effect.forkChild(send("logs", body))
      const call = yield* Effect.forkChild(send("traces", body))
      yield* receiver.until(({ received }) => received.length === 2)
      yield* Fiber.interrupt(call)
      yield* receiver.until(({ cancelled }) => cancelled === 1)
      yield* Deferred.succeed(answered, undefined)
      yield* Fiber.join(beside)
      yield* send("metrics", body)
      expect([way.connections, receiver.received.length]).toEqual([1, 3])
    }).pipe(Effect.scoped)
  )

  it.effect("takes a dead connection with it", () =>
    Effect.gen(function* () {
      const receiver = yield* OtlpReceiver.start("grpc")
      const way = yield* tunnel(receiver.port)
      const send = yield* connect("grpc", way.url)
      yield* send("logs", body)
      way.isDead = true
      const call = yield* Effect.forkChild(send("traces", body), { startImmediately: true })
      yield* Fiber.interrupt(call)
      yield* TestClock.adjust("5 seconds")
      way.isDead = false
      yield* send("traces", body)
      expect([way.connections, receiver.received.length]).toEqual([2, 2])
    }).pipe(Effect.scoped)
  )
})

describe.each(["grpc", "http/protobuf"] as const)("Over %s", (protocol) => {
  it.effect("a collector that is away can be reached once it is there", () =>
    Effect.gen(function* () {
      const { port, url } = yield* Effect.scoped(OtlpReceiver.start(protocol))
      const send = yield* connect(protocol, url)
      const error = yield* Effect.flip(send("logs", body))
      expect(summary(error)).toEqual({
        message: `connect ECONNREFUSED 127.0.0.1:${port}`,
        retryable: true,
        retryAfter: undefined
      })
      const receiver = yield* OtlpReceiver.start(protocol, { port })
      yield* send("logs", body)
      expect(receiver.received.map(({ signal }) => signal)).toEqual(["logs"])
    }).pipe(Effect.scoped)
  )

  it.effect("a collector that is replaced while the connection is at rest is reached again", () =>
    Effect.gen(function* () {
      const old = yield* Scope.make()
      const { port, url } = yield* Scope.provide(OtlpReceiver.start(protocol), old)
      const send = yield* connect(protocol, url)
      yield* send("logs", body)
      yield* Scope.close(old, Exit.void)
      const receiver = yield* OtlpReceiver.start(protocol, { port })
      // Where the end of the connection has not been seen yet, one attempt finds it out.
      yield* Effect.retry(send("logs", body), { times: 1 })
      expect(receiver.received.length).toBe(1)
    }).pipe(Effect.scoped)
  )

  it.effect("an attempt that is interrupted leaves nothing behind, and the next one is answered", () =>
    Effect.gen(function* () {
      const receiver = yield* OtlpReceiver.start(protocol)
      receiver.answer = () => ({ _tag: "Never" })
      const send = yield* connect(protocol, receiver.url)
      yield* Effect.raceFirst(
        send("traces", body),
        receiver.until(({ received }) => received.length === 1)
      )
      receiver.answer = () => ({ _tag: "Accept" })
      yield* send("traces", body)
      expect(receiver.received.length).toBe(2)
    }).pipe(Effect.scoped)
  )

  it.effect("what is no collector at all is an error", () =>
    Effect.gen(function* () {
      const server = createServer((socket) => socket.end("220 mail.example ESMTP\r\n"))
      yield* Effect.acquireRelease(
        Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
        () => Effect.sync(() => server.close())
      )
      const send = yield* connect(protocol, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      expect((yield* Effect.flip(send("traces", body))).retryable).toBe(true)
    }).pipe(Effect.scoped)
  )

  it.effect("a collector with TLS is trusted by its authority, and is shown who comes", () =>
    Effect.gen(function* () {
      const path = (name: string) => join(import.meta.dirname, "fixtures", name)
      const read = (name: string) => readFileSync(path(name), "utf8")
      const receiver = yield* OtlpReceiver.start(protocol, {
        tls: { key: read("server.key"), cert: read("server.pem"), ca: read("ca.pem"), requestCert: true }
      })
      const tls = yield* Tls.read({
        certificateAuthorityPath: path("ca.pem"),
        certificatePath: path("client.pem"),
        keyPath: path("client.key"),
        passphrase: Redacted.make("not needed")
      })
      const trusting = yield* connect(protocol, receiver.url, tls)
      yield* trusting("traces", body)
      expect(receiver.received.length).toBe(1)

      const unknowing = yield* connect(protocol, receiver.url)
      expect((yield* Effect.flip(unknowing("traces", body))).message).toMatch(/certificate/)
      const { cert: _cert, key: _key, ...anonymous } = tls
      yield* Effect.flip((yield* connect(protocol, receiver.url, anonymous))("traces", body))
      expect(receiver.received.length).toBe(1)
    }).pipe(Effect.scoped)
  )
})

it.effect("A file of telemetry:tls that is not there is told with its key", () =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(Tls.read({ keyPath: "/nowhere/key.pem" }))
    expect(error.message).toBe("telemetry:tls:keyPath: the file /nowhere/key.pem cannot be read: ENOENT")
  })
)
