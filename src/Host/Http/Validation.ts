/**
 * Invalid input: every invalid field of path, query, headers and body at once.
 *
 * The API runtime stops at the first part of a request that does not decode. Only once it has, all parts are decoded again
 * here, with every issue collected; a valid request pays nothing for it.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as UrlParams from "effect/http/UrlParams"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/** One invalid field: its path, joined by dots (`totp.totpKey.base32Key`), or `body` for the body as a whole. */
export interface ValidationError {
  readonly field: string
  readonly validationMessage: string
}

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** The issues of a failed decoding, by field; `whole` names an issue that belongs to no field. */
export const fromSchemaError = (error: Schema.SchemaError, whole: string): ReadonlyArray<ValidationError> =>
  formatIssue(error.issue).issues.map(({ message, path }) => ({
    field: path === undefined || path.length === 0 ? whole : path.map(fieldSegment).join("."),
    validationMessage: message
  }))

const fieldSegment = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === "object" ? segment.key : segment)

/** The parts of a request that an endpoint decodes. */
export interface RequestParts {
  readonly request: HttpServerRequest
  readonly params: Readonly<Record<string, string | undefined>>
  readonly query: Readonly<Record<string, string | ReadonlyArray<string>>>
}

/** Decodes all parts of a request against an endpoint and lists every invalid field, path first and body last. */
export const collect = Effect.fnUntraced(function* (
  endpoint: HttpApiEndpoint.Top,
  { request, params, query }: RequestParts
) {
  const errors: Array<ValidationError> = []
  const check = (schema: Schema.Constraint | undefined, input: unknown, whole: string) =>
    schema === undefined
      ? Effect.void
      : Effect.map(Effect.exit(decodeAll(schema, input)), (exit) => {
          if (Exit.isSuccess(exit)) return
          for (const reason of exit.cause.reasons) {
            if (Cause.isFailReason(reason)) errors.push(...fromSchemaError(reason.error, whole))
          }
        })
  yield* check(endpoint.params, params, "path")
  yield* check(endpoint.query && Schema.toCodecArrayFromSingle(endpoint.query), query, "query")
  yield* check(endpoint.headers, request.headers, "headers")
  const payload = yield* readPayload(endpoint, request, query)
  if (payload !== undefined) {
    if (payload.malformed !== undefined) errors.push({ field: "body", validationMessage: payload.malformed })
    else yield* check(payload.schema, payload.input, "body")
  }
  return errors
})

const decodeAll = (schema: Schema.Constraint, input: unknown): Effect.Effect<unknown, Schema.SchemaError> =>
  Schema.decodeUnknownEffect(schema as Schema.Codec<unknown>, { errors: "all" })(input)

interface Payload {
  readonly schema: Schema.Constraint
  readonly input?: unknown
  readonly malformed?: string
}

/** The body as its schema sees it; the request keeps a body that was read, so that reading it again costs nothing. */
const readPayload = (
  endpoint: HttpApiEndpoint.Top,
  request: HttpServerRequest,
  query: RequestParts["query"]
): Effect.Effect<Payload | undefined> => {
  const contentType = (request.headers["content-type"] ?? "application/json").split(";", 1)[0]!.trim().toLowerCase()
  const hasBody = request.method !== "GET" && request.method !== "HEAD"
  const entry = endpoint.payload.get(hasBody ? contentType : "application/x-www-form-urlencoded")
  if (entry === undefined) return Effect.undefined
  const schema = Schema.Union(entry.schemas as ReadonlyArray<Schema.Top>)
  switch (entry.encoding._tag) {
    case "Json":
      return Effect.map(Effect.orDie(request.text), (text) => {
        try {
          return { schema, input: text === "" ? undefined : JSON.parse(text) }
        } catch {
          return { schema, malformed: text === "" ? "Expected a body" : "Expected a valid JSON body" }
        }
      })
    case "Text":
      return Effect.map(Effect.orDie(request.text), (input) => ({ schema, input }))
    case "FormUrlEncoded":
      return Effect.map(
        hasBody ? Effect.map(Effect.orDie(request.urlParamsBody), UrlParams.toRecord) : Effect.succeed(query),
        (input) => ({ schema: Schema.toCodecArrayFromSingle(schema), input })
      )
    default:
      // Files and streams are read by the handler itself.
      return Effect.undefined
  }
}
