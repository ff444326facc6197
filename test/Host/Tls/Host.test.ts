import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as http2 from "node:http2"
import { join } from "node:path"
import { mkdirSync } from "node:fs"
import * as tls from "node:tls"
import { brotliDecompressSync, createBrotliDecompress } from "node:zlib"
import * as YAML from "yaml"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import * as TestLog from "../../../src/testing/TestLog.ts"
import * as Files from "./files.ts"
import * as SelfSigned from "./selfSigned.ts"

const one = SelfSigned.make("one")
const two = SelfSigned.make("two")
const three = SelfSigned.make("three")
const ca = [one, two, three].map(({ certificate }) => certificate)

const text = "text ".repeat(1_000)

/** A host over TLS, with routes that wait for the test. */
const make = Effect.fnUntraced(function* (host: Record<string, string | number> = {}) {
  const entered = yield* Deferred.make<void>()
  const release = yield* Deferred.make<void>()
  const wait = Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(release))
  const plugin = Plugin.make({
    id: "secure",
    routes: Layer.mergeAll(
      HttpRouter.add("GET", "/text", HttpServerResponse.text(text, { headers: { etag: '"text"' } })),
      HttpRouter.add("GET", "/json", HttpServerResponse.jsonUnsafe({ a: [1, 2] })),
      HttpRouter.add("GET", "/slow", Effect.as(wait, HttpServerResponse.text("slow"))),
      HttpRouter.add(
        "GET",
        "/events",
        HttpServerResponse.stream(
          Stream.concat(Stream.make("data: first\n\n"), Stream.fromEffect(Effect.as(wait, "data: last\n\n"))).pipe(
            Stream.encodeText
          ),
          { contentType: "text/event-stream" }
        )
      ),
      HttpRouter.add(
        "POST",
        "/echo",
        HttpServerRequest.HttpServerRequest.pipe(
          Effect.flatMap((request) => request.json),
          Effect.map((body) => HttpServerResponse.jsonUnsafe(body))
        )
      )
    )
  })
  const { certificatePath, keyPath } = Files.write(yield* Files.directory, one)
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const log = TestLog.make()
  const { url } = yield* Scope.provide(
    TestHost.make([plugin], {
      listen: true,
      log,
      config: {
        host: { urls: "https://127.0.0.1:0", maxRequestSize: 1_000, tls: { certificatePath, keyPath }, ...host }
      }
    }),
    scope
  )
  const close = Effect.forkChild(Scope.close(scope, Exit.void))
  return { url, log, entered, release, close }
})

const connect = (url: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const session = http2.connect(url, { ca })
      session.on("error", () => {})
      return session
    }),
    (session) => Effect.sync(() => session.destroy())
  )

interface Answer {
  readonly headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader
  readonly body: Buffer
}

const open = (session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders, body?: string) => {
  const stream = session.request(headers, { endStream: body === undefined })
  stream.on("error", () => {})
  if (body !== undefined) stream.end(body)
  return stream
}

const answerOf = (stream: http2.ClientHttp2Stream) =>
  Effect.callback<Answer>((resume) => {
    const chunks: Array<Buffer> = []
    let headers: Answer["headers"] = {}
    stream.on("response", (received) => {
      headers = received
    })
    stream.on("data", (chunk: Buffer) => chunks.push(chunk))
    stream.on("close", () => resume(Effect.succeed({ headers, body: Buffer.concat(chunks) })))
  })

const send = (session: http2.ClientHttp2Session, headers: http2.OutgoingHttpHeaders, body?: string) =>
  answerOf(open(session, headers, body))

const once = (emitter: NodeJS.EventEmitter, event: string) =>
  Effect.callback<unknown>((resume) => {
    emitter.once(event, (value: unknown) => resume(Effect.succeed(value)))
  })

describe("a host over HTTP/2", () => {
  it.effect("speaks JSON and YAML, compresses, spares what is known, and refuses with problems", () =>
    Effect.gen(function* () {
      const { log, url } = yield* make()
      const session = yield* connect(url)
      const get = yield* send(session, { ":path": "/text", "accept-encoding": "br", "x-request-id": "mine" })
      assert.containsSubset(get.headers, {
        ":status": 200,
        "content-encoding": "br",
        etag: 'W/"text"',
        "x-request-id": "mine"
      })
      assert.strictEqual(brotliDecompressSync(get.body).toString(), text)
      const head = yield* send(session, { ":path": "/text", ":method": "HEAD", "accept-encoding": "br" })
      assert.strictEqual(head.headers["content-length"], String(get.body.length))
      assert.strictEqual(head.body.length, 0)
      const known = yield* send(session, { ":path": "/text", "if-none-match": '"text"' })
      assert.deepStrictEqual([known.headers[":status"], known.body.length], [304, 0])

      const post = { ":path": "/echo", ":method": "POST", "content-type": "application/yaml" }
      const echoed = yield* send(session, { ...post, accept: "application/yaml" }, "a: [1, 2]")
      assert.deepStrictEqual(YAML.parse(echoed.body.toString()), { a: [1, 2] })
      for (const [headers, body, status] of [
        [{ ":path": "/nowhere" }, undefined, 404],
        [{ ":path": "/json", accept: "image/png" }, undefined, 406],
        [post, "x".repeat(2_000), 413],
        [{ ...post, "content-length": "2000" }, "x".repeat(2_000), 413],
        [post, "a: [", 400]
      ] as const) {
        for (const accept of ["application/json", "application/yaml"]) {
          const { body: text, headers: answered } = yield* send(session, { accept, ...headers }, body)
          assert.strictEqual(answered[":status"], status)
          const problem = YAML.parse(text.toString())
          assert.containsSubset(problem, { status, requestId: answered["x-request-id"] })
        }
      }
      assert.isFalse(session.closed)
      yield* log.waitFor("GET /nowhere 404")
    })
  )

  it.effect("lets events through as they come, compressed", () =>
    Effect.gen(function* () {
      const { release, url } = yield* make()
      const session = yield* connect(url)
      const stream = open(session, { ":path": "/events", "accept-encoding": "br" })
      const events = stream.pipe(createBrotliDecompress())
      assert.strictEqual(String(yield* once(events, "data")), "data: first\n\n")
      yield* Deferred.succeed(release, undefined)
      assert.strictEqual(String(yield* once(events, "data")), "data: last\n\n")
      yield* once(events, "end")
    })
  )

  it.effect("takes no more requests when it stops, and answers those in flight", () =>
    Effect.gen(function* () {
      const { close, entered, log, release, url } = yield* make()
      const session = yield* connect(url)
      const slow = yield* Effect.forkChild(send(session, { ":path": "/slow" }))
      yield* Deferred.await(entered)
      const goaway = yield* Effect.forkChild(once(session, "goaway"), { startImmediately: true })
      const closing = yield* close
      yield* log.waitFor("Shutting down")
      // No error: it is but the end.
      assert.strictEqual(yield* Fiber.join(goaway), http2.constants.NGHTTP2_NO_ERROR)
      const late = yield* connect(url)
      yield* once(late, "close")
      const ended = yield* Effect.forkChild(once(session, "close"), { startImmediately: true })
      yield* Deferred.succeed(release, undefined)
      assert.strictEqual((yield* Fiber.join(slow)).body.toString(), "slow")
      yield* Fiber.join(ended)
      yield* Fiber.join(closing)
    })
  )

  it.effect("closes streams whose request takes too long, and no other", () =>
    Effect.gen(function* () {
      const { url } = yield* make({ requestTimeout: "200 millis" })
      const session = yield* connect(url)
      const stream = session.request({ ":path": "/echo", ":method": "POST" })
      stream.on("error", () => {})
      stream.write("{")
      yield* once(stream, "close")
      assert.strictEqual(stream.rstCode, http2.constants.NGHTTP2_CANCEL)
      assert.strictEqual((yield* send(session, { ":path": "/json" })).headers[":status"], 200)
    })
  )
})

describe("a host over HTTP/1.1 and TLS", () => {
  it.effect("answers what is no HTTP, too", () =>
    Effect.gen(function* () {
      const { log, url } = yield* make()
      const socket = tls.connect({
        port: Number(new URL(url).port),
        host: "127.0.0.1",
        ca,
        ALPNProtocols: ["http/1.1"]
      })
      yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
      let received = ""
      socket.on("data", (data) => (received += data.toString()))
      socket.write("hello\r\n\r\n")
      yield* once(socket, "close")
      assert.match(received, /^HTTP\/1\.1 400 Bad Request\r\n/)
      assert.include(received, '"detail":"The request is not valid HTTP."')
      yield* log.waitFor("Refused a request 400")
    })
  )
})

describe("a certificate for each URL", () => {
  it.effect("is served there, and renewed there alone", () =>
    Effect.gen(function* () {
      const directory = yield* Files.directory
      const [first, second] = ["first", "second"].map((name) => join(directory, name)) as [string, string]
      mkdirSync(first)
      mkdirSync(second)
      const urls = ["https://127.0.0.1:0", "https://some-name.example:0"] as const
      const { host, log } = yield* TestHost.make([], {
        config: {
          host: {
            urls: urls.join(", "),
            tls: {
              certificates: [
                { url: urls[0], ...Files.write(first, one), passphrase: "" },
                { url: urls[1], ...Files.write(second, two), passphrase: "" }
              ]
            }
          }
        }
      })
      const { addresses } = yield* host.listen
      const nameAt = (address: string) =>
        Effect.callback<string | undefined>((resume) => {
          const socket = tls.connect({ port: Number(new URL(address).port), host: "127.0.0.1", ca }, () => {
            const { CN } = socket.getPeerCertificate().subject
            socket.destroy()
            resume(Effect.succeed(String(CN)))
          })
        })
      const names = Effect.forEach(addresses, nameAt)
      assert.deepStrictEqual(yield* names, ["one", "two"])
      const { certificatePath } = Files.write(second, three)
      yield* TestClock.adjust("10 seconds")
      yield* log.waitFor(`Renewed the certificate of ${certificatePath}, valid until 2049-01-01T00:00:00.000Z`)
      assert.deepStrictEqual(yield* names, ["one", "three"])
    })
  )
})
