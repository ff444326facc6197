/**
 * Compressed bodies of requests: gzip, deflate and Brotli, decompressed as they are read.
 *
 * What they stand for is held to the limit of all bodies, and so is what comes in: some bytes decompress to nothing at all.
 */
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpMethod from "effect/http/HttpMethod"
import { HttpServerError } from "effect/http/HttpServerError"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Multipart from "effect/http/Multipart"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as BodyBytes from "../Http/BodyBytes.ts"
import type * as Problem from "../Http/Problem.ts"
import { BodyTooLarge, MalformedBody } from "../Http/RequestError.ts"

/** The codings, and what the platform calls them. */
const formats: ReadonlyMap<string, Format> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "brotli"]
])

type Format = "gzip" | "deflate" | "brotli"

/**
 * The request with a body that reads as what it stands for, whoever reads it and however; the problem, where its coding is
 * not known here. More than one coding is none that is known: each would multiply what the next has to do.
 */
export const decoded = (
  request: HttpServerRequest,
  maxSize: number
): Result.Result<HttpServerRequest, Problem.Problem> => {
  const header = request.headers["content-encoding"]
  if (header === undefined || !HttpMethod.hasBody(request.method)) return Result.succeed(request)
  const codings = header
    .split(",")
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== "" && coding !== "identity")
  if (codings.length === 0) return Result.succeed(request)
  const format = codings.length === 1 ? formats.get(codings[0]!) : undefined
  return format === undefined ? Result.fail(unsupported) : Result.succeed(withDecodedBody(request, format, maxSize))
}

const unsupported: Problem.Problem = {
  status: 415,
  detail: "The body is in a content coding that is not supported; gzip, deflate and br are, one at a time.",
  headers: { "accept-encoding": "gzip, deflate, br" }
}

const withDecodedBody = (request: HttpServerRequest, format: Format, maxSize: number): HttpServerRequest => {
  const headers = Headers.removeMany(request.headers, ["content-encoding", "content-length"])
  const tooLarge = (what: string) =>
    BodyBytes.errorOf(request, new BodyTooLarge({ message: `${what} ${maxSize} bytes.` }))

  const compressed = BodyBytes.atMost(request.stream, maxSize, () => tooLarge("The compressed body is larger than"))
  const decompressed = Stream.unwrap(
    Effect.map(Effect.context<never>(), (context) =>
      Stream.fromReadableStream<Uint8Array, HttpServerError>({
        evaluate: () =>
          Stream.toReadableStreamWith(compressed, context).pipeThrough<Uint8Array>(
            new DecompressionStream(format as CompressionFormat) as never
          ),
        onError: (cause) =>
          cause instanceof HttpServerError
            ? cause
            : BodyBytes.errorOf(request, new MalformedBody({ message: `Expected a valid ${format} stream` }))
      })
    )
  )
  const stream = BodyBytes.atMost(decompressed, maxSize, () => tooLarge("The decompressed body is larger than"))
  const arrayBuffer = Effect.runSync(
    Effect.cached(
      Effect.map(Stream.mkUint8Array(stream), ({ buffer, byteLength, byteOffset }) =>
        buffer.slice(byteOffset, byteOffset + byteLength)
      )
    )
  )
  const text = Effect.map(arrayBuffer, (bytes) => utf8.decode(bytes))
  const multipartStream = Stream.pipeThroughChannel(
    Stream.mapError(stream, multipartError),
    Multipart.makeChannel<Multipart.MultipartError>(headers)
  )
  const multipart = Effect.runSync(Effect.cached(Multipart.toPersisted(multipartStream)))

  // JSON and form fields are read from these. Whoever changes another part of the request keeps the body.
  const withBody = (base: HttpServerRequest): HttpServerRequest =>
    Object.create(base, {
      stream: { value: stream },
      arrayBuffer: { value: arrayBuffer },
      text: { value: text },
      multipartStream: { value: multipartStream },
      multipart: { value: multipart },
      modify: { value: (options: Parameters<typeof base.modify>[0]) => withBody(base.modify(options)) }
    })
  return withBody(request.modify({ headers }))
}

const utf8 = new TextDecoder()

const multipartError = (error: HttpServerError): Multipart.MultipartError =>
  Multipart.MultipartError.fromReason(
    error.reason._tag === "RequestParseError" ? (error.reason.reason ?? "Parse") : "InternalError",
    error
  )
