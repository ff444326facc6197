/**
 * Invalid input: every invalid field of path, query, headers and body at once.
 *
 * The API runtime stops at the first part of a request that does not decode. Only once it has, all parts are decoded again
 * here, with every issue collected; a valid request pays nothing for it.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpMethod from "effect/http/HttpMethod"
import type { HttpServerError } from "effect/http/HttpServerError"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as UrlParams from "effect/http/UrlParams"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { ParseOptions } from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import * as MediaType from "./MediaType.ts"
import * as RequestBody from "./RequestBody.ts"

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

/** An endpoint with the annotations that hold for it: its own, its group's and its API's. */
export interface AnnotatedEndpoint {
  readonly endpoint: HttpApiEndpoint.Top
  readonly annotations: Context.Context<never>
}

/** Decodes all parts of a request against an endpoint and lists every invalid field, path first and body last. */
export const collect = Effect.fnUntraced(function* (
  { annotations, endpoint }: AnnotatedEndpoint,
  { request, params, query }: RequestParts
) {
  const optionsOf = (part: Context.Key<unknown, ParseOptions>): ParseOptions | undefined =>
    Context.getOrUndefined(annotations, part) ?? Context.getOrUndefined(annotations, HttpApi.ParseOptions)
  const querySchema = endpoint.query && Schema.toCodecArrayFromSingle(endpoint.query)
  return [
    ...(yield* check(endpoint.params, optionsOf(HttpApi.ParamsParseOptions))(params, "path")),
    ...(yield* check(querySchema, optionsOf(HttpApi.QueryParseOptions))(query, "query")),
    ...(yield* check(endpoint.headers, optionsOf(HttpApi.HeadersParseOptions))(request.headers, "headers")),
    ...(yield* checkPayload(endpoint, optionsOf(HttpApi.PayloadParseOptions), request, query))
  ]
})

/** Decodes with every issue collected, and lists the issues. */
const check =
  (schema: Schema.Constraint | undefined, options: ParseOptions | undefined) =>
  (input: unknown, whole: string): Effect.Effect<ReadonlyArray<ValidationError>> => {
    if (schema === undefined) return Effect.succeed([])
    const decode = Schema.decodeUnknownEffect(schema as Schema.Codec<unknown>, { ...options, errors: "all" })
    return Effect.map(Effect.exit(decode(input)), (exit) =>
      Exit.isSuccess(exit)
        ? []
        : exit.cause.reasons.flatMap((reason) =>
            Cause.isFailReason(reason) ? fromSchemaError(reason.error, whole) : []
          )
    )
  }

const checkPayload = (
  endpoint: HttpApiEndpoint.Top,
  options: ParseOptions | undefined,
  request: HttpServerRequest,
  query: RequestParts["query"]
): Effect.Effect<ReadonlyArray<ValidationError>> => {
  const hasBody = HttpMethod.hasBody(request.method)
  const contentType = hasBody ? (request.headers["content-type"] ?? "application/json") : formUrlEncoded
  const payload = endpoint.payload.get(MediaType.essence(contentType))
  if (payload === undefined) return Effect.succeed([])
  const schema = Schema.Union(payload.schemas as ReadonlyArray<Schema.Top>)
  const checkBody = check(schema, options)
  switch (payload.encoding._tag) {
    case "Json":
      return whenRead(request.text, (text) => {
        if (text === "") return checkBody(payload.schemas.some(takesNull) ? null : undefined, "body")
        try {
          return checkBody(JSON.parse(text), "body")
        } catch {
          return invalidBody("Expected valid JSON")
        }
      })
    case "Text":
      return whenRead(request.text, (text) => checkBody(text, "body"))
    case "FormUrlEncoded": {
      const checkFields = check(Schema.toCodecArrayFromSingle(schema), options)
      return hasBody
        ? whenRead(request.urlParamsBody, (fields) => checkFields(UrlParams.toRecord(fields), "body"))
        : checkFields(query, "body")
    }
    default:
      // Files and streams are read by the handler itself.
      return Effect.succeed([])
  }
}

const formUrlEncoded = "application/x-www-form-urlencoded"

/** The API runtime reads an empty body as null where a schema takes one. */
const takesNull = (schema: Schema.Constraint): boolean => SchemaAST.isNull(SchemaAST.toEncoded(schema.ast))

const invalidBody = (validationMessage: string): Effect.Effect<ReadonlyArray<ValidationError>> =>
  Effect.succeed([{ field: "body", validationMessage }])

/** Checks a body that was read; one that cannot be is an invalid field, or fails the request as a whole. */
const whenRead = <A>(
  read: Effect.Effect<A, HttpServerError>,
  then: (body: A) => Effect.Effect<ReadonlyArray<ValidationError>>
): Effect.Effect<ReadonlyArray<ValidationError>> =>
  Effect.matchEffect(read, {
    onSuccess: then,
    onFailure: (error) => {
      const malformation = RequestBody.malformation(error)
      return malformation === undefined ? Effect.die(error) : invalidBody(malformation)
    }
  })
