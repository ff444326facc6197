/**
 * Invalid input: every invalid field of path, query, headers and body at once.
 *
 * Requests are decoded no further than to the first issue. Only once there is one, every issue of all parts is looked for here;
 * a valid request pays nothing for it.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
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
import * as SchemaParser from "effect/SchemaParser"
import * as IssueFinder from "./IssueFinder.ts"
import * as MediaType from "./MediaType.ts"
import * as RequestBody from "./RequestBody.ts"

/** One invalid field: its path, joined by dots (`totp.totpKey.base32Key`), or `body` for the body as a whole. */
export interface ValidationError {
  readonly field: string
  readonly validationMessage: string
}

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** The issues of a failed decoding, by field; `whole` names an issue that belongs to no field. */
export const fromSchemaError = ({ issue }: Schema.SchemaError, whole: string): ReadonlyArray<ValidationError> =>
  fromIssue(issue, whole)

const fromIssue = (issue: SchemaIssue.Issue, whole: string): ReadonlyArray<ValidationError> =>
  formatIssue(issue).issues.map(({ message, path }) => ({
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

/** Lists every invalid field of a request, path first and body last. */
export type Collect = (parts: RequestParts) => Effect.Effect<ReadonlyArray<ValidationError>>

/** Makes what decodes all parts of a request against an endpoint. What that takes is made when it is first called. */
export const collector = (endpoint: AnnotatedEndpoint): Collect => {
  let collect: Collect | undefined
  return (parts) => (collect ??= makeCollect(endpoint))(parts)
}

/** How an endpoint's annotations say that a part of a request or answer is parsed; what holds for all parts, else. */
export const parseOptionsOf =
  (annotations: Context.Context<never>) =>
  (part: Context.Key<unknown, ParseOptions>): ParseOptions | undefined =>
    Context.getOrUndefined(annotations, part) ?? Context.getOrUndefined(annotations, HttpApi.ParseOptions)

const makeCollect = ({ annotations, endpoint }: AnnotatedEndpoint): Collect => {
  const optionsOf = parseOptionsOf(annotations)
  const querySchema = endpoint.query && Schema.toCodecArrayFromSingle(endpoint.query)
  const checkParams = checker(endpoint.params, optionsOf(HttpApi.ParamsParseOptions))
  const checkQuery = checker(querySchema, optionsOf(HttpApi.QueryParseOptions))
  const checkHeaders = checker(endpoint.headers, optionsOf(HttpApi.HeadersParseOptions))
  const checkPayload = payloadChecker(endpoint, optionsOf(HttpApi.PayloadParseOptions))
  return Effect.fnUntraced(function* ({ request, params, query }) {
    return [
      ...(yield* checkParams(params, "path")),
      ...(yield* checkQuery(query, "query")),
      ...(yield* checkHeaders(request.headers, "headers")),
      ...(yield* checkPayload(request, query))
    ]
  })
}

/** Lists every issue of a part of a request. */
export type Check = (input: unknown, whole: string) => Effect.Effect<ReadonlyArray<ValidationError>>

/** Makes what lists the issues of a part. What that takes is made when it is first called. */
export const checker = (schema: Schema.Constraint | undefined, options: ParseOptions | undefined): Check => {
  if (schema === undefined) return () => Effect.succeed([])
  let find: ReturnType<typeof IssueFinder.make>
  const decode = SchemaParser.decodeUnknownEffect(schema as Schema.Codec<unknown>, { ...options, errors: "all" })
  return (input, whole) => {
    const issues = (find ??= IssueFinder.make(schema.ast, options))(input)
    if (issues !== undefined) return Effect.succeed(issues.flatMap((issue) => fromIssue(issue, whole)))
    return Effect.matchCauseEager(decode(input), {
      onSuccess: () => [],
      onFailure: (cause) =>
        cause.reasons.flatMap((reason) => (Cause.isFailReason(reason) ? fromIssue(reason.error, whole) : []))
    })
  }
}

type CheckPayload = (
  request: HttpServerRequest,
  query: RequestParts["query"]
) => Effect.Effect<ReadonlyArray<ValidationError>>

const payloadChecker = (endpoint: HttpApiEndpoint.Top, options: ParseOptions | undefined): CheckPayload => {
  const checks = new Map(
    Array.from(endpoint.payload, ([mediaType, payload]) => [mediaType, checkerOf(payload, options)])
  )
  return (request, query) => {
    const contentType = HttpMethod.hasBody(request.method)
      ? (request.headers["content-type"] ?? "application/json")
      : formUrlEncoded
    return checks.get(MediaType.essence(contentType))?.(request, query) ?? Effect.succeed([])
  }
}

/** The check of a payload in one media type. */
const checkerOf = (
  { encoding, schemas }: HttpApiEndpoint.PayloadMap extends ReadonlyMap<string, infer Payload> ? Payload : never,
  options: ParseOptions | undefined
): CheckPayload => {
  const schema = payloadSchema(schemas)
  switch (encoding._tag) {
    case "Json": {
      const checkBody = checker(schema, options)
      const empty = schemas.some(takesNull) ? null : undefined
      return (request) =>
        whenRead(request.text, (text) => {
          if (text === "") return checkBody(empty, "body")
          try {
            return checkBody(JSON.parse(text), "body")
          } catch {
            return invalidBody("Expected valid JSON")
          }
        })
    }
    case "Text": {
      const checkBody = checker(schema, options)
      return (request) => whenRead(request.text, (text) => checkBody(text, "body"))
    }
    case "FormUrlEncoded": {
      const checkFields = checker(Schema.toCodecArrayFromSingle(schema), options)
      return (request, query) =>
        HttpMethod.hasBody(request.method)
          ? whenRead(request.urlParamsBody, (fields) => checkFields(UrlParams.toRecord(fields), "body"))
          : checkFields(query, "body")
    }
    default:
      // Files and streams are read by the handler itself.
      return () => Effect.succeed([])
  }
}

/** What a payload is decoded by. A union of one would not go into its member. */
export const payloadSchema = (schemas: ReadonlyArray<Schema.Constraint>): Schema.Constraint =>
  schemas.length === 1 ? schemas[0]! : Schema.Union(schemas as ReadonlyArray<Schema.Top>)

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
