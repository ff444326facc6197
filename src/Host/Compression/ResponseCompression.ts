/**
 * Compression of answers: Brotli or gzip at their fastest, as the client accepts, over HTTP and HTTPS alike.
 *
 * A handler keeps an answer as it is with `Cache-Control: no-transform` or `Content-Encoding: identity`. It has a reason to
 * where a secret and a text of the client's choice stand in one answer, since its length then tells of both (BREACH).
 */
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import type { HttpPlatform } from "effect/http/HttpPlatform"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import type { RequestHead } from "../Http/RequestHead.ts"
import * as AcceptEncoding from "./AcceptEncoding.ts"
import { isCompressible } from "./CompressibleType.ts"
import type { CompressionConfig } from "./CompressionConfig.ts"
import * as Vary from "./Vary.ts"
import { withWeakEtag } from "./WeakEtag.ts"

/** Compresses an answer where it should be; to be called when all its headers are there. */
export type Compress = (
  response: HttpServerResponse.HttpServerResponse,
  request: RequestHead
) => Effect.Effect<HttpServerResponse.HttpServerResponse>

/** Whether an answer of this size is compressed for no client with this `Accept-Encoding`, whatever its type. */
export const isSentAsItIs =
  (config: CompressionConfig["Service"]) =>
  (size: number, acceptEncoding: string | undefined): boolean =>
    !config.enabled || codingOf(config, size, acceptEncoding) === "identity"

/** The coding for an answer of this size, which may not be known: one that is small stays as it is for whoever takes that. */
const codingOf = (
  { minimumSize }: CompressionConfig["Service"],
  size: number | undefined,
  acceptEncoding: string | undefined
): AcceptEncoding.Coding => {
  const { coding, takesIdentity } = AcceptEncoding.choose(acceptEncoding)
  return size !== undefined && size < minimumSize && takesIdentity ? "identity" : coding
}

/** A body below this size is compressed at once: to hand it to another thread would cost more than the work. */
const synchronousBelow = 64 * 1024

/** Both have 1 for the fastest. */
const level = 1

/** By how many bytes the room for what is compressed grows. Most answers fit into the first, so that they take no more. */
const chunkSize = 4 * 1024

/** Compiles the configuration; the platform compresses streams, and bodies of some size. */
export const make = (config: CompressionConfig["Service"], platform: HttpPlatform["Service"]): Compress => {
  if (!config.enabled) return (response) => Effect.succeed(withoutIdentity(response))
  return (response, request) => {
    if (!mayBeCompressed(response)) return Effect.succeed(withoutIdentity(response))
    const varying = HttpServerResponse.setHeader(
      response,
      "vary",
      Vary.add(response.headers["vary"], "Accept-Encoding")
    )
    // Also where HEAD asks, which gets the headers that GET would.
    const coding = codingOf(config, lengthOf(response), request.headers["accept-encoding"])
    if (coding === "identity") return Effect.succeed(varying)
    const { body } = response
    return body._tag === "Uint8Array" && body.contentLength < synchronousBelow
      ? Effect.succeed(encoded(varying, bytesOf(body), coding))
      : platform.compression.compressResponse(varying, coding, { level })
  }
}

const mayBeCompressed = (response: HttpServerResponse.HttpServerResponse): boolean => {
  const { body, headers, status } = response
  if (body._tag === "Empty" || body._tag === "FormData" || (body._tag === "Raw" && body.body == null)) return false
  if (status < 200 || status === 204 || status === 205 || status === 206 || status === 304) return false
  if (headers["content-encoding"] !== undefined || headers["content-range"] !== undefined) return false
  if (/(?:^|[\s,])no-transform(?:$|[\s,;])/i.test(headers["cache-control"] ?? "")) return false
  return isCompressible(contentTypeOf(response))
}

/** `identity` is for this module only: it is no coding that may be sent. */
const withoutIdentity = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse =>
  response.headers["content-encoding"]?.trim().toLowerCase() === "identity"
    ? HttpServerResponse.removeHeader(response, "content-encoding")
    : response

const contentTypeOf = ({ body, headers }: HttpServerResponse.HttpServerResponse): string =>
  headers["content-type"] ?? ("contentType" in body ? body.contentType : undefined) ?? ""

const lengthOf = ({ body, headers }: HttpServerResponse.HttpServerResponse): number | undefined => {
  const length = ("contentLength" in body ? body.contentLength : undefined) ?? headers["content-length"]
  return length === undefined ? undefined : Number(length)
}

/** What is compressed at once needs its bytes no longer than that. */
const bytesOf = (body: HttpBody.Uint8Array): Uint8Array =>
  body.text === undefined ? body.body : scratch.subarray(0, scratch.write(body.text))

const scratch = Buffer.allocUnsafeSlow(synchronousBelow)

const encoded = (
  response: HttpServerResponse.HttpServerResponse,
  content: Uint8Array,
  coding: "br" | "gzip"
): HttpServerResponse.HttpServerResponse => {
  const compressed = coding === "br" ? brotli(content) : gzipSync(content, { level, chunkSize })
  return withWeakEtag(
    HttpServerResponse.setHeader(
      HttpServerResponse.setBody(response, HttpBody.uint8Array(compressed, contentTypeOf(response))),
      "content-encoding",
      coding
    )
  )
}

const brotli = (content: Uint8Array): Uint8Array =>
  brotliCompressSync(content, {
    chunkSize,
    params: { [constants.BROTLI_PARAM_QUALITY]: level, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  })
