import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import { HttpPlatform } from "effect/http/HttpPlatform"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import type { IncomingMessage } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliDecompressSync, createBrotliDecompress, createGunzip, gunzipSync } from "node:zlib"
import { CompressionConfig } from "../../../src/Host/Compression/CompressionConfig.ts"
import { isCompressible } from "../../../src/Host/Compression/CompressibleType.ts"
import * as ResponseCompression from "../../../src/Host/Compression/ResponseCompression.ts"
import { open, send, type Sent, serve } from "./server.ts"

/** A server whose every answer is the given one, compressed. */
const serving = Effect.fnUntraced(function* (
  response:
    | HttpServerResponse.HttpServerResponse
    | Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, HttpPlatform>,
  config: Partial<CompressionConfig["Service"]> = {}
) {
  const platform = yield* HttpPlatform
  const compress = ResponseCompression.make({ enabled: true, minimumSize: 1024, ...config }, platform)
  const answer = Effect.isEffect(response) ? Effect.orDie(response) : Effect.succeed(response)
  return yield* serve(
    HttpServerRequest.use((request) =>
      Effect.provideService(
        Effect.flatMap(answer, (each) => compress(each, request)),
        HttpPlatform,
        platform
      )
    )
  )
}, Effect.provide(NodeHttpServer.layerHttpServices))

const accepting = (accept: string, sent: Sent = {}): Sent => ({
  ...sent,
  headers: { "accept-encoding": accept, ...sent.headers }
})

const decode = (coding: string | undefined, body: Buffer): string =>
  (coding === "br" ? brotliDecompressSync(body) : coding === "gzip" ? gunzipSync(body) : body).toString()

const text = '{"name":"value"}'.repeat(128)
const large = '{"name":"value"}'.repeat(16_384)

describe("a body in memory", () => {
  it.effect.each([
    ["br", text, "br"],
    ["gzip", text, "gzip"],
    ["gzip, deflate, br, zstd", text, "br"],
    ["gzip;q=1, br;q=0.5", text, "gzip"],
    ["deflate", text, undefined],
    ["identity;q=0", text, undefined],
    ["br", large, "br"],
    ["gzip", large, "gzip"]
  ] as const)("for a client that accepts %s", ([accept, content, coding]) =>
    Effect.gen(function* () {
      const port = yield* serving(HttpServerResponse.text(content, { contentType: "application/json" }))
      const { body, headers, status } = yield* send(port, accepting(accept))
      assert.strictEqual(status, 200)
      assert.strictEqual(headers["content-encoding"], coding)
      assert.strictEqual(headers["content-type"], "application/json")
      assert.strictEqual(headers["content-length"], String(body.length))
      assert.strictEqual(headers.vary, "Accept-Encoding")
      assert.strictEqual(decode(coding, body), content)
      if (coding !== undefined) assert.isBelow(body.length, content.length / 10)
    })
  )

  it.effect("without Accept-Encoding stays as it is, and says that it might not", () =>
    Effect.gen(function* () {
      const { body, headers } = yield* send(yield* serving(HttpServerResponse.text(text)), {})
      assert.notProperty(headers, "content-encoding")
      assert.strictEqual(headers.vary, "Accept-Encoding")
      assert.strictEqual(body.toString(), text)
    })
  )
})

describe("what is compressed", () => {
  const json = (options: object = {}, content = text) =>
    HttpServerResponse.text(content, { contentType: "application/json", ...options })
  const headers = (values: Readonly<Record<string, string>>) => json({ headers: values })

  it.effect.each<[string, HttpServerResponse.HttpServerResponse, Sent, string | undefined, string | undefined]>([
    ["an error", json({ status: 404, contentType: "application/problem+json" }), {}, "br", "Accept-Encoding"],
    ["a small body", json({}, "x".repeat(1023)), {}, undefined, "Accept-Encoding"],
    ["a body of the minimum size", json({}, "x".repeat(1024)), {}, "br", "Accept-Encoding"],
    [
      "a small body, for a client that takes no other",
      json({}, "{}"),
      accepting("br, identity;q=0"),
      "br",
      "Accept-Encoding"
    ],
    ["an image", json({ contentType: "image/png" }), {}, undefined, undefined],
    ["a body without a type", HttpServerResponse.raw(text), {}, undefined, undefined],
    ["a part", json({ status: 206, headers: { "content-range": "bytes 0-9/10" } }), {}, undefined, undefined],
    ["nothing", HttpServerResponse.empty(), {}, undefined, undefined],
    ["not modified", HttpServerResponse.empty({ status: 304, headers: { etag: '"1"' } }), {}, undefined, undefined],
    ["no-transform", headers({ "cache-control": "public,no-transform" }), {}, undefined, undefined],
    ["a directive that looks like it", headers({ "cache-control": "x-no-transform" }), {}, "br", "Accept-Encoding"],
    ["what opts out", headers({ "content-encoding": "identity" }), {}, undefined, undefined],
    ["what varies already", headers({ vary: "Origin" }), {}, "br", "Origin, Accept-Encoding"],
    ["what varies by everything", headers({ vary: "*" }), {}, "br", "*"]
  ])("%s", ([_title, response, sent, coding, vary]) =>
    Effect.gen(function* () {
      const port = yield* serving(response)
      const answer = yield* send(port, accepting("br", sent))
      assert.strictEqual(answer.headers["content-encoding"], coding)
      assert.strictEqual(answer.headers.vary, vary)
    })
  )

  it.effect("what is encoded already stays so", () =>
    Effect.gen(function* () {
      const port = yield* serving(
        HttpServerResponse.text(text, { headers: { "content-encoding": "zstd", etag: '"1"' } })
      )
      const { body, headers } = yield* send(port, accepting("br"))
      assert.strictEqual(headers["content-encoding"], "zstd")
      assert.strictEqual(headers.etag, '"1"')
      assert.strictEqual(body.toString(), text)
    })
  )

  it.effect.each<[etag: string, accept: string, expected: string]>([
    ['"strong"', "br", 'W/"strong"'],
    ['W/"weak"', "br", 'W/"weak"'],
    ['"strong"', "identity", '"strong"']
  ])("the ETag %s, as %s, is %s", ([etag, accept, expected]) =>
    Effect.gen(function* () {
      const port = yield* serving(headers({ etag }))
      assert.strictEqual((yield* send(port, accepting(accept))).headers.etag, expected)
    })
  )

  it.effect("nothing, when turned off", () =>
    Effect.gen(function* () {
      const port = yield* serving(json(), { enabled: false })
      const answer = yield* send(port, accepting("br"))
      assert.notProperty(answer.headers, "content-encoding")
      assert.notProperty(answer.headers, "vary")
      const optedOut = yield* serving(headers({ "content-encoding": "identity" }), { enabled: false })
      assert.notProperty((yield* send(optedOut, accepting("br"))).headers, "content-encoding")
    })
  )

  it.effect("bodies from the minimum size on", () =>
    Effect.gen(function* () {
      const port = yield* serving(json({}, "{}"), { minimumSize: 0 })
      assert.strictEqual((yield* send(port, accepting("gzip"))).headers["content-encoding"], "gzip")
      assert.deepStrictEqual(
        { ...(yield* Effect.provide(CompressionConfig, CompressionConfig.layer())) },
        { enabled: true, minimumSize: 1024 }
      )
    })
  )

  it.each([
    ["application/json; charset=utf-8", true],
    ["Application/JSON", true],
    ["application/problem+json", true],
    ["application/problem+yaml", true],
    ["application/yaml", true],
    ["text/yaml", true],
    ["text/plain; version=0.0.4", true],
    ["application/openmetrics-text; version=1.0.0", true],
    ["text/html", true],
    ["text/event-stream", true],
    ["image/svg+xml", true],
    ["application/xml", true],
    ["text/javascript", true],
    ["application/javascript", true],
    ["application/x-ndjson", true],
    ["application/wasm", true],
    ["image/png", false],
    ["video/mp4", false],
    ["application/zip", false],
    ["application/octet-stream", false],
    ["font/woff2", false],
    ["", false]
  ])("%s: %s", (type, expected) => {
    assert.strictEqual(isCompressible(type), expected)
  })
})

describe("a stream", () => {
  /** Waits until the decompressed text of an answer ends like this. */
  const endingLike = (response: IncomingMessage, ending: string) => {
    const decoder = response.headers["content-encoding"] === "br" ? createBrotliDecompress() : createGunzip()
    let received = ""
    let check = () => {}
    response.pipe(decoder).on("data", (data: Buffer) => {
      received += data.toString()
      check()
    })
    const until = (end: string) =>
      Effect.callback<string>((resume) => {
        check = () => {
          if (received.endsWith(end)) resume(Effect.succeed(received))
        }
        check()
      })
    return { first: until(ending), until }
  }

  it.effect.each(["br", "gzip"])("of events, as %s, is not held back", (coding) =>
    Effect.gen(function* () {
      const events = yield* Queue.unbounded<string>()
      const port = yield* serving(
        HttpServerResponse.stream(Stream.fromQueue(events).pipe(Stream.encodeText), {
          contentType: "text/event-stream"
        })
      )
      yield* Queue.offer(events, "data: 1\n\n")
      const response = yield* open(port, accepting(coding))
      assert.strictEqual(response.headers["content-encoding"], coding)
      assert.notProperty(response.headers, "content-length")
      const { first, until } = endingLike(response, "data: 1\n\n")
      assert.strictEqual(yield* first, "data: 1\n\n")
      yield* Queue.offer(events, "data: 2\n\n")
      assert.strictEqual(yield* until("data: 2\n\n"), "data: 1\n\ndata: 2\n\n")
    })
  )

  it.effect.each(["br", "gzip"])("that is long arrives whole, as %s", (coding) =>
    Effect.gen(function* () {
      const lines = Array.from({ length: 2_000 }, (_, i) => `line ${i}\n`)
      const port = yield* serving(
        HttpServerResponse.stream(Stream.fromIterable(lines).pipe(Stream.encodeText), {
          contentType: "text/plain",
          headers: { "content-length": String(lines.join("").length), etag: '"1"' }
        })
      )
      const { body, headers } = yield* send(port, accepting(coding))
      assert.notProperty(headers, "content-length")
      assert.strictEqual(headers.etag, 'W/"1"')
      assert.strictEqual(decode(coding, body), lines.join(""))
    })
  )

  it.effect("that fails breaks the answer off", () =>
    Effect.gen(function* () {
      const broken = Stream.concat(Stream.succeed(text), Stream.fail(new Error("broken"))).pipe(Stream.encodeText)
      const port = yield* serving(HttpServerResponse.stream(broken, { contentType: "text/plain" }))
      const exit = yield* Effect.exit(send(port, accepting("br")))
      assert.strictEqual(exit._tag, "Failure")
    })
  )

  it.effect("from a file arrives whole", () =>
    Effect.gen(function* () {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "layerhost-"))),
        (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
      )
      const path = join(directory, "file.json")
      writeFileSync(path, large)
      const port = yield* serving(HttpServerResponse.file(path))
      const { body, headers } = yield* send(port, accepting("br"))
      assert.strictEqual(headers["content-encoding"], "br")
      assert.match(headers.etag ?? "", /^W\//)
      assert.strictEqual(decode("br", body), large)
    })
  )
})
