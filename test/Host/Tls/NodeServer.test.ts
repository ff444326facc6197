import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { fromWeb, HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { IncomingMessage, RequestListener, Server } from "node:http"
import * as http2 from "node:http2"
import * as https from "node:https"
import * as net from "node:net"
import { text } from "node:stream/consumers"
import * as tls from "node:tls"
import * as ForwardedHeaders from "../../../src/Host/ForwardedHeaders/ForwardedHeaders.ts"
import * as Certificate from "../../../src/Host/Tls/Certificate.ts"
import * as RequestHead from "../../../src/Host/Http/RequestHead.ts"
import * as NodeServer from "../../../src/Host/Tls/NodeServer.ts"
import type { ServerLimits } from "../../../src/Host/Tls/ServerLimits.ts"
import { ServedCertificate } from "../../../src/Host/Tls/Tls.ts"
import * as Files from "./files.ts"
import * as SelfSigned from "./selfSigned.ts"

const limits: ServerLimits = {
  headersTimeout: Duration.seconds(30),
  requestTimeout: Duration.minutes(5),
  keepAliveTimeout: Duration.seconds(65),
  sendTimeout: Duration.seconds(60),
  maxHeaderSize: 16_384,
  maxHeaderCount: 100,
  maxRequestValues: 1_000
}

const one = SelfSigned.make("one")
const two = SelfSigned.make("two")
const ca = one.certificate + two.certificate

const certificateOf = Effect.fnUntraced(function* (content: SelfSigned.SelfSigned) {
  const files = Files.write(yield* Files.directory, content)
  return new ServedCertificate(files, yield* Certificate.load(files))
})

/** Does something with the body of a request, if it comes whole. */
const withBody = (message: IncomingMessage, use: (body: string) => void): void => {
  void text(message).then(use, () => {})
}

/** Lets a server listen; all its connections end with the scope. */
const listen = (server: Server, handler: RequestListener = (_request, response) => response.end("hello")) =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.on("request", handler)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as net.AddressInfo).port)))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )

const once = <A = void>(emitter: { once: (event: any, listener: (value: any) => void) => unknown }, event: string) =>
  Effect.callback<A>((resume) => {
    emitter.once(event, (value: A) => resume(Effect.succeed(value)))
  })

const connect = (port: number, sent = "") =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const socket = net.connect(port, "127.0.0.1")
      // A server that closes may well reset.
      socket.on("error", () => {})
      socket.write(sent, "latin1")
      return socket
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

/** What a server says until it closes the connection. */
const untilClosed = (socket: net.Socket) =>
  Effect.callback<string>((resume) => {
    let received = ""
    socket.on("data", (data) => (received += data.toString("latin1")))
    socket.on("close", () => resume(Effect.succeed(received)))
  })

const session = (port: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const session = http2.connect(`https://127.0.0.1:${port}`, { ca })
      session.on("error", () => {})
      return session
    }),
    (session) => Effect.sync(() => session.destroy())
  )

const request = (session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders = {}) => {
  const stream = session.request({ ":path": "/", ...headers })
  stream.on("error", () => {})
  return stream
}

describe("a client over HTTP/1.1", () => {
  const timeout = Duration.millis(100)

  it.effect("that does not finish its headers is sent away", () =>
    Effect.gen(function* () {
      const port = yield* listen(NodeServer.make({ ...limits, headersTimeout: timeout }))
      assert.match(yield* untilClosed(yield* connect(port, "GET / HTTP/1.1\r\nHost: a\r\nX-A")), /^HTTP\/1\.1 408 /)
    })
  )

  it.effect("that does not say a word is sent away", () =>
    Effect.gen(function* () {
      const port = yield* listen(NodeServer.make({ ...limits, headersTimeout: timeout }))
      assert.match(yield* untilClosed(yield* connect(port)), /^HTTP\/1\.1 408 |^$/)
    })
  )

  it.effect("that does not finish its body is sent away", () =>
    Effect.gen(function* () {
      const port = yield* listen(NodeServer.make({ ...limits, requestTimeout: timeout }), (message, response) => {
        withBody(message, (body) => response.end(body))
      })
      const socket = yield* connect(port, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
      assert.match(yield* untilClosed(socket), /^HTTP\/1\.1 408 /)
    })
  )

  it.effect("that takes nothing of a large answer is sent away", () =>
    Effect.gen(function* () {
      const server = NodeServer.make({ ...limits, sendTimeout: timeout })
      const port = yield* listen(server, (_message, response) => response.end(Buffer.alloc(50_000_000)))
      const connection = once<net.Socket>(server, "connection")
      const [socket] = yield* Effect.all([connection, connect(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")], {
        concurrency: "unbounded"
      })
      yield* once(socket, "close")
    })
  )

  it.effect("that waits for a quiet answer is not", () =>
    Effect.gen(function* () {
      const server = NodeServer.make({ ...limits, sendTimeout: timeout })
      const port = yield* listen(server, (_message, response) => {
        response.write("first ")
        let timeouts = 0
        server.on("timeout", () => {
          if (++timeouts === 2) response.end("second")
        })
      })
      const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}`))
      assert.strictEqual(yield* Effect.promise(() => response.text()), "first second")
    })
  )

  it.effect("that waits with its next request is sent away without a word", () =>
    Effect.gen(function* () {
      const port = yield* listen(NodeServer.make({ ...limits, keepAliveTimeout: timeout }))
      const received = yield* untilClosed(yield* connect(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
      assert.match(received, /^HTTP\/1\.1 200 .*hello\r?\n?/s)
      assert.notInclude(received, "408")
    })
  )

  it.effect.each([
    ["one long header", `X-A: ${"a".repeat(20_000)}\r\n`],
    ["10,000 short ones", "a: b\r\n".repeat(10_000)]
  ])("with %s gets 431", ([_title, headers]) =>
    Effect.gen(function* () {
      const port = yield* listen(NodeServer.make(limits))
      const socket = yield* connect(port, `GET / HTTP/1.1\r\nHost: a\r\n${headers}\r\n`)
      assert.match(yield* untilClosed(socket), /^HTTP\/1\.1 431 /)
    })
  )

  it.effect("is one of so many", () =>
    Effect.gen(function* () {
      const server = NodeServer.make({ ...limits, maxConnections: 1 })
      const port = yield* listen(server)
      const first = connect(port)
      yield* Effect.all([once(server, "connection"), first], { concurrency: "unbounded" })
      assert.strictEqual(yield* untilClosed(yield* connect(port)), "")
    })
  )

  it.effect("is served while hundreds of slow ones are waited for", () =>
    Effect.gen(function* () {
      const port = yield* listen(NodeServer.make({ ...limits, headersTimeout: Duration.millis(500) }))
      const slow = yield* Effect.all(Array.from({ length: 300 }, () => connect(port, "GET / HTTP/1.1\r\nX-A")))
      const response = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}`))
      assert.strictEqual(yield* Effect.promise(() => response.text()), "hello")
      const answers = yield* Effect.all(slow.map(untilClosed), { concurrency: "unbounded" })
      assert.isTrue(answers.every((answer) => answer.startsWith("HTTP/1.1 408 ")))
    })
  )

  it.effect("has all the time where limits are 0", () =>
    Effect.gen(function* () {
      const none = { headersTimeout: Duration.zero, requestTimeout: Duration.zero, sendTimeout: Duration.zero }
      const server = NodeServer.make({ ...limits, ...none })
      assert.deepStrictEqual([server.headersTimeout, server.requestTimeout, server.timeout], [0, 0, 0])
      const long = NodeServer.make({
        ...limits,
        requestTimeout: Duration.days(100),
        headersTimeout: Duration.millis(0.5)
      })
      assert.deepStrictEqual([long.headersTimeout, long.requestTimeout], [1, 2 ** 31 - 1])
      const mixed = NodeServer.make({ ...limits, headersTimeout: Duration.minutes(9) })
      assert.deepStrictEqual([mixed.headersTimeout, mixed.requestTimeout], [300_000, 300_000])
    })
  )
})

describe("the number of headers", () => {
  it.effect("may be as large as the limit, and no larger", () =>
    Effect.gen(function* () {
      const server = NodeServer.make(limits)
      const http = yield* NodeHttpServer.make(() => server, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 })
      yield* http.serve(
        HttpServerRequest.use((request) =>
          Effect.succeed(
            HttpServerResponse.empty({ status: RequestHead.problemOf(request, request.source, limits)?.status ?? 204 })
          )
        )
      )
      const { port } = server.address() as net.AddressInfo
      const statusWith = Effect.fnUntraced(function* (count: number) {
        const more = "a: b\r\n".repeat(count - 2)
        const socket = yield* connect(port, `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${more}\r\n`)
        return (yield* untilClosed(socket)).slice(9, 12)
      })
      assert.strictEqual(yield* statusWith(100), "204")
      assert.strictEqual(yield* statusWith(101), "431")
      assert.strictEqual(yield* statusWith(2_000), "431")
    })
  )

  it("of a request in memory does not matter", () => {
    const request = fromWeb(new Request("http://a/"))
    assert.isUndefined(RequestHead.problemOf(request, request.source, { maxHeaderCount: 1 }))
  })
})

describe("TLS", () => {
  it.effect("serves HTTP/2 and HTTP/1.1", () =>
    Effect.gen(function* () {
      const { endsOf } = ForwardedHeaders.make({ headers: "x-forwarded" })
      const server = NodeServer.make(limits, yield* certificateOf(one))
      const http = yield* NodeHttpServer.make(() => server, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: 0 })
      yield* http.serve(
        HttpServerRequest.use((request) =>
          Effect.map(request.text, (body) => {
            const { clientAddress, host, scheme } = endsOf(request)
            return HttpServerResponse.text(`${clientAddress} ${scheme}://${host} ${body}`)
          })
        )
      )
      yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
      const { port } = server.address() as net.AddressInfo

      const stream = request(yield* session(port), { ":method": "POST" })
      stream.end("two")
      assert.strictEqual(yield* Effect.promise(() => text(stream)), `127.0.0.1 https://127.0.0.1:${port} two`)

      const answer = Effect.callback<string>((resume) => {
        const sent = https.request({ port, host: "127.0.0.1", method: "POST", ca, agent: false }, (response) => {
          void text(response).then((body) => resume(Effect.succeed(`${response.httpVersion} ${body}`)))
        })
        sent.end("one")
      })
      assert.strictEqual(yield* answer, `1.1 127.0.0.1 https://127.0.0.1:${port} one`)
    })
  )

  it.effect("shows a renewed certificate to new connections, and keeps those that there are", () =>
    Effect.gen(function* () {
      const certificate = yield* certificateOf(one)
      const port = yield* listen(NodeServer.make(limits, certificate))
      const nameOf = Effect.callback<string | Array<string> | undefined>((resume) => {
        const socket = tls.connect({ port, host: "127.0.0.1", ca }, () => {
          resume(Effect.succeed(socket.getPeerCertificate().subject.CN))
          socket.destroy()
        })
      })
      const before = yield* session(port)
      assert.strictEqual(yield* Effect.promise(() => text(request(before))), "hello")
      assert.strictEqual(yield* nameOf, "one")
      certificate.renew((yield* certificateOf(two)).current)
      assert.strictEqual(yield* nameOf, "two")
      assert.strictEqual(yield* Effect.promise(() => text(request(before))), "hello")
      const after = yield* session(port)
      assert.strictEqual(yield* Effect.promise(() => text(request(after))), "hello")
      assert.strictEqual(after.alpnProtocol, "h2")
    })
  )

  it.effect("sends those away who do not speak it, and goes on", () =>
    Effect.gen(function* () {
      const port = yield* listen(NodeServer.make(limits, yield* certificateOf(one)))
      yield* untilClosed(yield* connect(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
      assert.strictEqual(
        yield* Effect.promise(async () => text(request(http2.connect(`https://127.0.0.1:${port}`, { ca })))),
        "hello"
      )
    })
  )

  it.effect("gives little time for the handshake", () =>
    Effect.gen(function* () {
      const timeouts = { ...limits, headersTimeout: Duration.millis(100) }
      const port = yield* listen(NodeServer.make(timeouts, yield* certificateOf(one)))
      assert.strictEqual(yield* untilClosed(yield* connect(port)), "")
    })
  )
})

describe("a client over HTTP/2", () => {
  const timeout = Duration.millis(100)

  const serve = Effect.fnUntraced(function* (changed: Partial<ServerLimits>, handler?: RequestListener) {
    const server = NodeServer.make({ ...limits, ...changed }, yield* certificateOf(one))
    return { server, port: yield* listen(server, handler) }
  })

  it.effect("that asks for nothing is sent away", () =>
    Effect.gen(function* () {
      const { port } = yield* serve({ headersTimeout: timeout })
      yield* once(yield* session(port), "close")
    })
  )

  it.effect("that asks for nothing more is sent away", () =>
    Effect.gen(function* () {
      const { port } = yield* serve({ keepAliveTimeout: timeout })
      const client = yield* session(port)
      const closed = once(client, "close")
      assert.strictEqual(yield* Effect.promise(() => text(request(client))), "hello")
      yield* closed
    })
  )

  it.effect("that does not finish its body loses the stream, and nothing else", () =>
    Effect.gen(function* () {
      const { port } = yield* serve({ requestTimeout: timeout }, (message, response) => {
        withBody(message, (body) => response.end(body))
      })
      const client = yield* session(port)
      const stream = request(client, { ":method": "POST" })
      stream.write("abc")
      yield* once(stream, "close")
      assert.strictEqual(stream.rstCode, http2.constants.NGHTTP2_CANCEL)
      const next = request(client, { ":method": "POST" })
      next.end("whole")
      assert.strictEqual(yield* Effect.promise(() => text(next)), "whole")
    })
  )

  it.effect("may wait for its answer longer than it may take to ask", () =>
    Effect.gen(function* () {
      let answer = () => {}
      const { port } = yield* serve({ requestTimeout: timeout }, (message, response) => {
        withBody(message, () => (answer = () => response.end("late")))
      })
      const client = yield* session(port)
      const [waiting, late] = [request(client, { ":method": "POST" }), request(client, { ":method": "POST" })]
      waiting.end("whole")
      late.write("part")
      // The second was sent later, and is out of time by now.
      yield* once(late, "close")
      answer()
      assert.strictEqual(yield* Effect.promise(() => text(waiting)), "late")
    })
  )

  it.effect("that takes nothing of a large answer loses the stream", () =>
    Effect.gen(function* () {
      const { port } = yield* serve({ sendTimeout: timeout }, (_message, response) =>
        response.end(Buffer.alloc(5_000_000))
      )
      const stream = request(yield* session(port))
      yield* once(stream, "close")
      assert.strictEqual(stream.rstCode, http2.constants.NGHTTP2_CANCEL)
    })
  )

  it.effect("with 1,000 headers is refused", () =>
    Effect.gen(function* () {
      const { port } = yield* serve({})
      const headers = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`x-${i}`, "1"]))
      const stream = request(yield* session(port), headers)
      yield* once(stream, "close")
      assert.notStrictEqual(stream.rstCode, http2.constants.NGHTTP2_NO_ERROR)
    })
  )

  it.effect("loses its connection when all are closed", () =>
    Effect.gen(function* () {
      const { port, server } = yield* serve({}, (_message, response) => response.write("on and on"))
      const client = yield* session(port)
      yield* once(request(client), "response")
      const closed = once(client, "close")
      server.closeAllConnections()
      yield* closed
    })
  )
})
