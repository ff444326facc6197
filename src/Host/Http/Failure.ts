/**
 * From what went wrong in a request to the answer that its client gets.
 *
 * The answer to a failure of the service itself says nothing of the cause; the log has it, under the same request id.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ClientErrors from "./ClientErrors.ts"
import * as MediaType from "./MediaType.ts"
import * as Problem from "./Problem.ts"
import * as BodyBytes from "./BodyBytes.ts"
import * as RequestBody from "./RequestBody.ts"
import type { RequestHead } from "./RequestHead.ts"
import { BodyTooLarge, InvalidRequest, NotAcceptable, UnsupportedMediaType } from "./RequestError.ts"
import * as Validation from "./Validation.ts"

/** What a failure may need to know of the host. */
export interface FailureContext {
  readonly maxRequestSize: number
  /** The problem that a plugin has for an error; absent where none has. */
  readonly mappedProblemOf: (error: unknown) => Problem.Problem | undefined
  /** The methods that the path of a URL has; empty where the path does not exist. */
  readonly methodsOf: (url: string) => ReadonlyArray<string>
  /** Whether the host has begun to shut down. */
  readonly isShuttingDown: () => boolean
}

/** The answer to a request whose handling failed with `cause`. */
export const toResponse = (
  cause: Cause.Cause<unknown>,
  request: RequestHead,
  occurrence: Problem.Occurrence,
  context: FailureContext
): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  for (const reason of cause.reasons) {
    if (reason._tag === "Interrupt") continue
    const error = reason._tag === "Fail" ? reason.error : reason.defect
    const allowed =
      request.method === "OPTIONS" && isRouteNotFound(error) ? allowedMethods(request, context) : undefined
    if (allowed !== undefined) return Effect.succeed(allowed)
    const problem =
      reason._tag === "Fail" && Schema.isSchemaError(error)
        ? invalid(Validation.fromSchemaError(error, "body"))
        : problemOf(error, request, context)
    if (problem !== undefined) return Effect.succeed(Problem.toResponse(problem, occurrence))
    const mapped = mappedResponse(error, occurrence, context)
    if (Result.isFailure(mapped)) return unmapped(Cause.combine(Cause.die(mapped.failure), cause), occurrence, context)
    const response = mapped.success
    if (response !== undefined) return Effect.as(response.status < 500 ? Effect.void : logFailure(cause), response)
  }
  return unmapped(cause, occurrence, context)
}

/** The problem of a request that is not valid; absent where something else went wrong. */
export const invalidRequestOf = ({ reasons: [reason, ...others] }: Cause.Cause<unknown>): Problem.Problem | undefined =>
  reason?._tag === "Fail" && others.length === 0 && reason.error instanceof InvalidRequest
    ? invalid(reason.error.validationErrors)
    : undefined

const isRouteNotFound = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

/** The answer to an `OPTIONS` that no route takes: what the path has, or nothing in particular for the server as a whole. */
const allowedMethods = (
  { url }: RequestHead,
  { methodsOf }: FailureContext
): HttpServerResponse.HttpServerResponse | undefined => {
  const methods = methodsOf(url)
  if (methods.length > 0) return HttpServerResponse.empty({ status: 204, headers: { allow: methods.join(", ") } })
  return url === "*" ? HttpServerResponse.empty({ status: 204 }) : undefined
}

/** The answer that a plugin has for an error, if any; the failure, where that goes wrong itself. */
const mappedResponse = (error: unknown, occurrence: Problem.Occurrence, { mappedProblemOf }: FailureContext) =>
  Result.try(() => {
    const problem = mappedProblemOf(error)
    return problem === undefined ? undefined : Problem.toResponse(problem, occurrence)
  })

/** The answer to what answers for itself, or to what nobody has words for. */
const unmapped = (
  cause: Cause.Cause<unknown>,
  occurrence: Problem.Occurrence,
  context: FailureContext
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.flatMap(HttpServerError.causeResponse(cause), ([response]) => {
    // A client that has left, and a host that may wait no longer: neither is a failure of the service.
    const isExpected = response.status < 500 || (Cause.hasInterruptsOnly(cause) && context.isShuttingDown())
    return Effect.as(isExpected ? Effect.void : logFailure(cause), Problem.complete(response, occurrence))
  })

const logFailure = (cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logError("The request failed", cause), { namespace: "layerhost.host.request" })

/** The problem that the host itself has words for; absent for everything that answers for itself. */
const problemOf = (error: unknown, request: RequestHead, context: FailureContext): Problem.Problem | undefined => {
  if (error instanceof InvalidRequest) return invalid(error.validationErrors)
  if (error instanceof UnsupportedMediaType) return unsupportedMediaType(request)
  if (error instanceof NotAcceptable) return notAcceptable(error.mediaTypes)
  if (!HttpServerError.isHttpServerError(error)) return undefined
  const { reason } = error
  switch (reason._tag) {
    case "RouteNotFound":
      return notFound(request, context.methodsOf(request.url))
    case "RequestParseError": {
      if (reason.reason === "BodyTooLarge") {
        return bodyTooLarge(
          reason.cause instanceof BodyTooLarge ? reason.cause.message : BodyBytes.tooLarge(context.maxRequestSize)
        )
      }
      if (reason.cause instanceof UnsupportedMediaType) return unsupportedMediaType(request)
      const refusal = reason.cause instanceof Error ? ClientErrors.problemOf(reason.cause) : undefined
      if (refusal !== undefined) return refusal
      const malformation = RequestBody.malformation(error)
      return malformation === undefined
        ? { status: 400, detail: "The request cannot be read." }
        : invalid([{ field: "body", validationMessage: malformation }])
    }
    default:
      return undefined
  }
}

const invalid = (validationErrors: ReadonlyArray<Validation.ValidationError>): Problem.Problem => ({
  status: 400,
  detail: "The request is not valid.",
  validationErrors
})

const unsupportedMediaType = ({ headers }: RequestHead): Problem.Problem => ({
  status: 415,
  detail: `This endpoint does not take ${headers["content-type"] ?? "such a body"}.`
})

const notFound = (request: RequestHead, methods: ReadonlyArray<string>): Problem.Problem =>
  // A route that takes the method may itself find nothing.
  methods.length === 0 || methods.includes(request.method)
    ? { status: 404, detail: "Nothing is found at this path." }
    : {
        status: 405,
        detail: `This path does not take ${request.method}.`,
        headers: { allow: methods.join(", ") }
      }

/** The answer to a client that takes none of these types; it comes in JSON, since there is nothing better. */
export const notAcceptable = (mediaTypes: ReadonlyArray<string>): Problem.Problem => {
  const types = mediaTypes.flatMap((type) => (MediaType.isJson(type) ? [type, MediaType.yamlOf(type)] : [type]))
  return { status: 406, detail: `The client accepts none of what is here: ${[...new Set(types)].join(", ")}.` }
}

/** The answer to a body that is too large; the connection closes, so that the rest need not be read. */
export const bodyTooLarge = (detail: string): Problem.Problem => ({
  status: 413,
  detail,
  headers: { connection: "close" }
})
