/**
 * From what went wrong in a request to the answer that its client gets.
 *
 * The answer to a failure of the service itself says nothing of the cause; the log has it, under the same request id.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Problem from "./Problem.ts"
import { InvalidRequest, UnsupportedMediaType } from "./RequestError.ts"
import { YamlBodyError } from "./Yaml.ts"

/** What a failure may need to know of the host. */
export interface FailureContext {
  readonly maxRequestSize: number
  /** The methods that the path of a URL has; empty where the path does not exist. */
  readonly methodsOf: (url: string) => ReadonlyArray<string>
}

/** The answer to a request whose handling failed with `cause`. */
export const toResponse = (
  cause: Cause.Cause<unknown>,
  request: HttpServerRequest.HttpServerRequest,
  occurrence: Problem.Occurrence,
  context: FailureContext
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  for (const reason of cause.reasons) {
    if (reason._tag === "Interrupt") continue
    const problem = problemOf(reason._tag === "Fail" ? reason.error : reason.defect, request, context)
    if (problem !== undefined) return Effect.succeed(Problem.toResponse(problem, occurrence))
  }
  return Effect.flatMap(HttpServerError.causeResponse(cause), ([response]) =>
    Effect.as(
      response.status < 500 ? Effect.void : Effect.logError("The request failed", cause),
      Problem.complete(response, occurrence)
    )
  )
}

/** The problem that the host itself has words for; absent for everything that answers for itself. */
const problemOf = (
  error: unknown,
  request: HttpServerRequest.HttpServerRequest,
  context: FailureContext
): Problem.Problem | undefined => {
  if (error instanceof InvalidRequest) {
    return { status: 400, detail: "The request is not valid.", validationErrors: error.validationErrors }
  }
  if (error instanceof UnsupportedMediaType) {
    return { status: 415, detail: `This endpoint does not take ${request.headers["content-type"] ?? "such a body"}.` }
  }
  if (!HttpServerError.isHttpServerError(error)) return undefined
  const reason = error.reason
  switch (reason._tag) {
    case "RouteNotFound":
      return notFound(request, context.methodsOf(request.url))
    case "RequestParseError":
      if (reason.reason === "BodyTooLarge") return bodyTooLarge(context.maxRequestSize)
      if (reason.cause instanceof YamlBodyError) {
        return {
          status: 400,
          detail: "The request is not valid.",
          validationErrors: [{ field: "body", validationMessage: reason.cause.message }]
        }
      }
      return { status: 400, detail: "The request cannot be read." }
    default:
      return undefined
  }
}

const notFound = (request: HttpServerRequest.HttpServerRequest, methods: ReadonlyArray<string>): Problem.Problem =>
  methods.length === 0
    ? { status: 404, detail: "Nothing is found at this path." }
    : {
        status: 405,
        detail: `This path does not take ${request.method}.`,
        headers: { allow: methods.join(", ") }
      }

/** The answer to a body of more than `host:maxRequestSize` bytes. */
export const bodyTooLarge = (maxRequestSize: number): Problem.Problem => ({
  status: 413,
  detail: `The body is larger than ${maxRequestSize} bytes.`
})
