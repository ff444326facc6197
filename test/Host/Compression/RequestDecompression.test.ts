import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import { MaxBodySize } from "effect/http/HttpIncomingMessage"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerRespondable from "effect/http/HttpServerRespondable"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Headers from "effect/http/Headers"
import type * as Multipart from "effect/http/Multipart"
import * as UrlParams from "effect/http/UrlParams"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import * as RequestDecompression from "../../../src/Host/Compression/RequestDecompression.ts"
import * as Problem from "../../../src/Host/Http/Problem.ts"
import * as RequestBody from "../../../src/Host/Http/RequestBody.ts"
import { send, serve } from "./server.ts"

const maxSize = 100_000

type Reader = (request: HttpServerRequest) => Effect.Effect<unknown, unknown, any>

const bytesOf = (stream: HttpServerRequest["stream"]) =>
  Effect.map(Stream.mkUint8Array(stream), (bytes) => new TextDecoder().decode(bytes))

const describePart = (part: Multipart.Part) => (part._tag === "Field" ? `${part.key}=${part.value}` : part.key)

/** Every way to read a body, each giving something that JSON can say. */
const readers: Readonly<Record<string, Reader>> = {
  json: (request) => request.json,
  text: (request) => request.text,
  form: (request) => Effect.map(request.urlParamsBody, UrlParams.toRecord),
  arrayBuffer: (request) => Effect.map(request.arrayBuffer, (bytes) => new TextDecoder().decode(bytes)),
  stream: (request) => bytesOf(request.stream),
  multipart: (request) => Effect.map(request.multipart, (parts) => ({ ...parts })),
  multipartStream: (request) => Stream.runCollect(Stream.map(request.multipartStream, describePart)),
  modified: (request) =>
    Effect.flatMap(request.json, (first) => {
      const modified = request.modify({ headers: Headers.set(request.headers, "x-more", "1") })
      return Effect.map(modified.json, (second) => [first, second, modified.headers["x-more"]])
    }),
  headers: (request) => Effect.succeed(Object.keys(request.headers)),
  nothing: () => Effect.succeed("not read")
}

/** Answers with what the reader of the path gives; failures answer for themselves. */
const app = HttpServerRequest.use((request) => {
  const decoded = RequestDecompression.decoded(request, maxSize)
  if (Result.isFailure(decoded)) {
    return Effect.succeed(Problem.toResponse(decoded.failure, { requestId: "1", timestamp: "2026-01-01T00:00:00Z" }))
  }
  const read = readers[request.url.slice(1)]!(RequestBody.checked(decoded.success, maxSize, maxSize))
  return Effect.matchEffect(read, {
    onSuccess: (value) => Effect.succeed(HttpServerResponse.jsonUnsafe(value)),
    onFailure: (error) => HttpServerRespondable.toResponseOrElse(error, HttpServerResponse.empty({ status: 500 }))
  }).pipe(Effect.provideService(MaxBodySize, ByteSize.bytes(maxSize)), Effect.provide(NodeServices.layer))
})

const encoders: Readonly<Record<string, (text: string | Uint8Array) => Buffer>> = {
  gzip: (text) => gzipSync(text),
  "x-gzip": (text) => gzipSync(text),
  deflate: (text) => deflateSync(text),
  br: (text) => brotliCompressSync(text)
}

const codings = Object.keys(encoders)

const multipart = '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--b--\r\n'

const incompressible = Array.from({ length: 100 }, (_, i) => createHash("sha256").update(`${i}`).digest("hex")).join("")

const bodies: Readonly<Record<string, readonly [type: string, body: string, expected: unknown]>> = {
  json: ["application/json", '{"a":1}', { a: 1 }],
  text: ["text/plain", "grüße", "grüße"],
  form: ["application/x-www-form-urlencoded", "?a=1&b=%20", { "?a": "1", b: " " }],
  arrayBuffer: ["text/plain", "grüße", "grüße"],
  stream: ["text/plain", "grüße", "grüße"],
  multipart: ["multipart/form-data; boundary=b", multipart, { a: "1" }],
  multipartStream: ["multipart/form-data; boundary=b", multipart, ["a=1"]],
  modified: ["application/json", '{"a":1}', [{ a: 1 }, { a: 1 }, "1"]]
}

const post = Effect.fnUntraced(function* (path: string, encoding: string, type: string, body: Uint8Array) {
  const port = yield* serve(app)
  const headers = { "content-type": type, "content-encoding": encoding }
  const answer = yield* send(port, { path: `/${path}`, method: "POST", headers, body })
  return { ...answer, text: answer.body.toString() }
})

describe.each(codings)("a body in %s", (coding) => {
  const encode = encoders[coding]!

  it.effect.each(Object.keys(bodies))("reads as what it stands for: %s", (reader) =>
    Effect.gen(function* () {
      const [type, body, expected] = bodies[reader]!
      const answer = yield* post(reader, coding, type, encode(body))
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(JSON.parse(answer.text), expected)
    })
  )

  it.effect.each(Object.keys(bodies))("that grows beyond the limit is refused: %s", (reader) =>
    Effect.gen(function* () {
      const [type] = bodies[reader]!
      const content = `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${"a".repeat(maxSize)}\r\n--b--\r\n`
      assert.strictEqual((yield* post(reader, coding, type, encode(content))).status, 413)
    })
  )

  it.effect.each(Object.keys(bodies))("that breaks off is refused: %s", (reader) =>
    Effect.gen(function* () {
      const [type] = bodies[reader]!
      const body = encode(multipart.replace("1", incompressible))
      assert.strictEqual((yield* post(reader, coding, type, body.subarray(0, body.length / 2))).status, 400)
    })
  )

  it.effect("that is none is refused", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* post("text", coding, "text/plain", Buffer.from("not compressed at all"))).status, 400)
    })
  )

  it.effect("may have exactly the size of the limit", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* post("text", coding, "text/plain", encode("a".repeat(maxSize)))).status, 200)
    })
  )

  it.effect("in YAML reads as JSON", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* post("json", coding, "application/yaml", encode("a: [1, 2]"))).text, '{"a":[1,2]}')
    })
  )

  it.effect("that nobody reads does no harm", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* post("nothing", coding, "text/plain", Buffer.from("broken"))).status, 200)
    })
  )
})

describe("garbage", () => {
  it.effect.each([
    ["deflate", Buffer.concat([deflateSync("a"), Buffer.from("garbage")])],
    ["br", Buffer.concat([brotliCompressSync("a"), Buffer.from("garbage")])],
    ["gzip", Buffer.concat([gzipSync("a"), Buffer.from("garbage")])],
    ["deflate", deflateRawSync("raw deflate")]
  ] as const)("in %s is refused", ([coding, body]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* post("text", coding, "text/plain", body)).status, 400)
    })
  )

  it.effect.prop("of any kind is refused, or read", [Schema.Literals(codings), Schema.Uint8Array], ([coding, body]) =>
    Effect.gen(function* () {
      assert.include([200, 400], (yield* post("stream", coding, "text/plain", body)).status)
    })
  )
})

describe("the header", () => {
  it.effect("of a decompressed body is gone", () =>
    Effect.gen(function* () {
      const { text } = yield* post("headers", "GZIP", "text/plain", gzipSync("a"))
      assert.notInclude(text, "content-encoding")
      assert.notInclude(text, "content-length")
    })
  )

  it.effect.each(["identity", "", " , identity"])("%j changes nothing", (encoding) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* post("text", encoding, "text/plain", Buffer.from("plain"))).text, '"plain"')
    })
  )

  it.effect.each(["zstd", "compress", "gzip, gzip", "gzip, br", "constructor"])(
    "%j is answered with 415 and what is supported",
    (encoding) =>
      Effect.gen(function* () {
        const { headers, status, text } = yield* post("text", encoding, "text/plain", Buffer.from("x"))
        assert.strictEqual(status, 415)
        assert.strictEqual(headers["accept-encoding"], "gzip, deflate, br")
        assert.strictEqual(JSON.parse(text).status, 415)
      })
  )

  it.effect("with identity beside a coding is that coding", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* post("text", "identity, gzip", "text/plain", gzipSync("a"))).text, '"a"')
    })
  )
})

describe("a bomb", () => {
  const megabyte = 1024 * 1024

  it.effect.each<[string, string, () => Buffer]>([
    ["of 64 MB in gzip", "gzip", () => gzipSync(Buffer.alloc(64 * megabyte), { level: 9 })],
    [
      "of 64 MB in Brotli",
      "br",
      () => brotliCompressSync(Buffer.alloc(64 * megabyte), { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
    ],
    // Each member stands for nothing.
    [
      "that never explodes",
      "gzip",
      () => {
        const member = gzipSync("")
        return Buffer.concat(Array.from({ length: 10_000 }, () => member))
      }
    ]
  ])("%s costs no memory", ([_title, coding, make]) =>
    Effect.gen(function* () {
      const bomb = make()
      for (const reader of ["text", "stream", "multipart"]) {
        const before = process.memoryUsage.rss()
        const { status } = yield* post(reader, coding, "multipart/form-data; boundary=b", bomb)
        assert.strictEqual(status, 413)
        assert.isBelow(process.memoryUsage.rss() - before, 100 * megabyte)
      }
    })
  )
})
