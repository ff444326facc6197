/**
 * Error answers in one shape: problem details (RFC 9457, https://www.rfc-editor.org/rfc/rfc9457) with the host's members.
 */
import * as ProblemDetails from "effect/http/ProblemDetails"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as MediaType from "./MediaType.ts"
import { http } from "./NodeHttp.ts"
import type { ValidationError } from "./Validation.ts"

/** What an error answer says beyond its status. */
export interface Problem {
  readonly status: number
  /** A URI; `about:blank` when absent. */
  readonly type?: string | undefined
  /** The reason phrase of the status when absent. */
  readonly title?: string | undefined
  readonly detail?: string | undefined
  readonly validationErrors?: ReadonlyArray<ValidationError> | undefined
  /** What else it says; nothing that every problem says. */
  readonly members?: Readonly<Record<string, unknown>> | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Where and when the error happened; the same in every error answer. */
export interface Occurrence {
  readonly requestId: string
  /** The trace of the request, where there is one. */
  readonly traceId?: string | undefined
  /** ISO 8601, UTC. */
  readonly timestamp: string
}

/** The media type of a problem. */
export const { contentType } = ProblemDetails

/** The reason phrase of a status, for example `Not Found`. */
export const titleOf = (status: number): string => http.STATUS_CODES[status] ?? "Error"

/** An `application/problem+json` answer. */
export const toResponse = (problem: Problem, occurrence: Occurrence): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(toJson(problem, occurrence), {
    status: problem.status,
    contentType,
    headers: problem.headers
  })

/** The body of an error answer. Members that are absent are left out. */
export const toJson = (problem: Problem, occurrence: Occurrence): Readonly<Record<string, unknown>> => {
  const common = {
    type: problem.type ?? ProblemDetails.blankType,
    title: problem.title ?? titleOf(problem.status),
    status: problem.status,
    ...(problem.detail === undefined ? undefined : { detail: problem.detail }),
    timestamp: occurrence.timestamp,
    requestId: occurrence.requestId,
    ...(occurrence.traceId === undefined ? undefined : { traceId: occurrence.traceId }),
    ...(problem.validationErrors === undefined ? undefined : { validationErrors: problem.validationErrors })
  }
  return problem.members === undefined ? common : { ...common, ...problem.members, ...common }
}

/**
 * An error answer of a handler in the host's shape: one without a body becomes a problem, and a problem gets the members
 * that it lacks. Any other body is the handler's own word and stays.
 */
export const complete = (
  response: HttpServerResponse.HttpServerResponse,
  occurrence: Occurrence
): HttpServerResponse.HttpServerResponse => {
  if (response.body._tag === "Empty") {
    return toResponse({ status: response.status }, occurrence).pipe(
      HttpServerResponse.setHeaders(withoutBodyHeaders(response.headers)),
      HttpServerResponse.mergeCookies(response.cookies)
    )
  }
  const members = membersOf(response)
  if (members === undefined) return response
  const { type, title, status, detail, ...rest } = members
  return HttpServerResponse.setBody(
    response,
    HttpServerResponse.jsonUnsafe({ type, title, status, detail, ...occurrence, ...rest }, { contentType }).body
  )
}

/** The members of an answer that is a problem. */
const membersOf = (response: HttpServerResponse.HttpServerResponse): Readonly<Record<string, unknown>> | undefined => {
  const mediaType = MediaType.essence(response.headers["content-type"] ?? "")
  if (mediaType !== contentType || response.body._tag !== "Uint8Array") return undefined
  try {
    const members: unknown = JSON.parse(response.body.text ?? new TextDecoder().decode(response.body.body))
    return isObject(members) ? members : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const withoutBodyHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> => {
  const { "content-length": _length, "content-type": _type, ...rest } = headers
  return rest
}
