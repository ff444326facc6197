/**
 * The bytes of a body, read once, whoever asks for them and how often.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { HttpServerError, RequestParseError } from "effect/http/HttpServerError"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Stream from "effect/Stream"
import type { IncomingMessage } from "node:http"
import { isOfNode } from "./NodeHttp.ts"
import { BodyTooLarge } from "./RequestError.ts"

/** All bytes of a body, or why they could not be read. */
export type Bytes = Exit.Exit<Uint8Array, HttpServerError>

/**
 * Reads the body of a request. A plain request over HTTP/1.1 is read right from its socket; of what Effect's platform does
 * besides (answering `Expect`, decompressing, requests in memory) the platform keeps care.
 *
 * Fails with the error that `toError` makes of a cause: {@link BodyTooLarge}, or what broke the connection.
 */
export const read = (
  request: HttpServerRequest,
  maxSize: number,
  toError: (cause: unknown) => HttpServerError
): Effect.Effect<Uint8Array, HttpServerError> => {
  const source = request.source as IncomingMessage | Request
  if (!isPlain(source)) return Effect.map(request.arrayBuffer, (buffer) => new Uint8Array(buffer))
  let known: Bytes | undefined
  const waiting: Array<(bytes: Bytes) => void> = []
  return Effect.suspend(
    () =>
      known ??
      Effect.callback<Uint8Array, HttpServerError>((resume) => {
        if (waiting.push(resume) > 1) return
        collect(source, maxSize, toError, (bytes) => {
          known = bytes
          for (const resume of waiting) resume(bytes)
        })
      })
  )
}

/** What the client sent, not what the request was made into: that has no coding any more. */
const isPlain = (source: IncomingMessage | Request): source is IncomingMessage =>
  isOfNode(source) &&
  source.httpVersionMajor === 1 &&
  source.headers["content-encoding"] === undefined &&
  source.headers.expect === undefined &&
  source.headers.upgrade === undefined

/**
 * After as many chunks, they are joined: a client may send each byte in a chunk of its own, and to hold a chunk costs some
 * hundred bytes.
 */
const manyChunks = 256

/** Reads a body to its end, or to the limit; what is beyond that stays unread. */
export const collect = (
  source: IncomingMessage,
  maxSize: number,
  toError: (cause: unknown) => HttpServerError,
  done: (bytes: Bytes) => void
): void => {
  let chunks: Array<Uint8Array> = []
  const joined: Array<Uint8Array> = []
  let size = 0
  let isSettled = false
  const settle = (make: () => Bytes): void => {
    if (isSettled) return
    isSettled = true
    done(make())
  }
  const onEnd = (): void => {
    const all = joined.length === 0 ? chunks : [...joined, ...chunks]
    settle(() => Exit.succeed(all.length === 1 ? all[0]! : Buffer.concat(all)))
  }
  const onError = (cause?: unknown): void =>
    settle(() => Exit.fail(toError(cause ?? new Error("The connection was closed"))))
  const onData = (chunk: Uint8Array): void => {
    size += chunk.length
    if (size <= maxSize) {
      if (chunks.push(chunk) < manyChunks) return
      joined.push(Buffer.concat(chunks))
      chunks = []
      return
    }
    // What follows runs away unread.
    source.off("data", onData)
    onError(new BodyTooLarge({ message: tooLarge(maxSize) }))
  }
  if (source.readableEnded) return onEnd()
  if (source.destroyed) return onError()
  source.on("data", onData).on("end", onEnd).on("error", onError).on("close", onError)
}

/** Fails once the stream has had more bytes than that. */
export const atMost = (
  stream: HttpServerRequest["stream"],
  maxSize: number,
  error: () => HttpServerError
): HttpServerRequest["stream"] =>
  Stream.suspend(() => {
    let size = 0
    return Stream.mapArrayEffect(stream, (chunks) => {
      for (const chunk of chunks) size += chunk.length
      return size > maxSize ? Effect.fail(error()) : Effect.succeed(chunks)
    })
  })

/** The failure of whoever reads a body, and why. */
export const errorOf = (request: HttpServerRequest, cause: unknown): HttpServerError =>
  new HttpServerError({
    reason: new RequestParseError({ request, reason: cause instanceof BodyTooLarge ? "BodyTooLarge" : "Parse", cause })
  })

/** What an answer says of a body that is larger than the limit. */
export const tooLarge = (maxSize: number): string => `The body is larger than ${maxSize} bytes.`
