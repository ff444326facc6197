/**
 * An endpoint of an API as one plain function: what the API runtime works out again for every request is worked out at start.
 *
 * Only the way of a request that goes well is compiled: its parts decode, its handler succeeds, and the result can be said in
 * JSON. What of a request is not valid is found here, too. Everything else is left to the API runtime, which then runs in the
 * place of the compiled handler, so that there is one word on what a failure looks like. docs/fast-path.md says why both answer
 * alike; a test holds them against each other.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpMethod from "effect/http/HttpMethod"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { ParseOptions } from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import * as MediaType from "../Http/MediaType.ts"
import * as PlainJson from "../Http/PlainJson.ts"
import { InvalidRequest } from "../Http/RequestError.ts"
import type { Handler } from "../Http/Route.ts"
import * as Validation from "../Http/Validation.ts"
import * as Platform from "./Platform.ts"
import * as RequestContext from "./RequestContext.ts"

/** An endpoint with everything that its handler is made of. */
export interface EndpointParts extends Validation.AnnotatedEndpoint {
  readonly definition: HttpApi.Top
  readonly group: HttpApiGroup.Top
  /** What the endpoint answers with, by status. */
  readonly successes: ReadonlyMap<number, ReadonlyArray<Schema.Top>>
  /** The plugin's handler of the endpoint. */
  readonly handler: (input: Input) => Effect.Effect<unknown, unknown, unknown>
  /** The handler that the API runtime made. */
  readonly stock: Handler
  /** The context that the handler captured. */
  readonly captured: Context.Context<never>
  /** Puts what the handler captured into the context of a request. */
  readonly within: (context: Context.Context<never>) => Context.Context<never>
}

/** An endpoint in the parts that a request needs one after the other. */
export interface CompiledEndpoint {
  readonly takesBody: boolean
  /** What the handler is called with, the parts of the request left out. */
  readonly inputOf: (request: HttpServerRequest.HttpServerRequest) => Input
  /** Puts path, query and headers, decoded, into the input; gives what answers instead, where one of them is not valid. */
  readonly decodeHead: (input: Input, parts: Parts) => Handler | undefined
  /** The same with the body. */
  readonly decodeBody: (input: Input, parts: Parts, text: string) => Handler | undefined
  /** The plugin's handler, begun; where it throws, that is a defect. */
  readonly call: (input: Input) => Effect.Effect<unknown, unknown>
  /** The services that the handler captured, for what a request brings to be laid over. */
  readonly base: Context.Context<never>
  /** The status of a success. */
  readonly status: number
  /** A success as JSON; gives what answers instead, where it cannot be said so. */
  readonly encode: (value: unknown) => string | Handler
  /** The answer of the API runtime to what the handler ended with. */
  readonly answer: (outcome: Effect.Effect<unknown, unknown>) => Handler
  /** All of this, in the place of the handler that the API runtime made. */
  readonly handler: Handler
}

/** The parts of a request beside its body. */
export type Parts = Omit<Validation.RequestParts, "request">

/** What a handler is called with. */
export interface Input {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly endpoint: HttpApiEndpoint.Top
  readonly group: HttpApiGroup.Top
  params?: unknown
  headers?: unknown
  query?: unknown
  payload?: unknown
}

/** What a handler that has run ended with, for the API runtime to answer as if it had run there. */
class Outcome extends Context.Service<Outcome, Effect.Effect<never, unknown>>()("layerhost/Host/FastPath/Outcome") {}

/** Compiles an endpoint; absent where it has something that only the API runtime can do. */
export const compile = (parts: EndpointParts): CompiledEndpoint | undefined => {
  const { annotations, captured, definition, endpoint, group, handler, stock, successes, within } = parts
  const payload = jsonPayload(endpoint)
  const [status, success] = jsonSuccess(successes)
  if (endpoint.middlewares.size > 0 || payload === unsupported || success === undefined) return undefined
  const optionsOf = Validation.parseOptionsOf(annotations)
  const decoder = (schema: Schema.Constraint | undefined, part: Context.Key<unknown, ParseOptions>) =>
    schema && SchemaParser.decodeUnknownEffect(schema as Schema.Codec<unknown>, optionsOf(part))
  const query = endpoint.query && Schema.toCodecArrayFromSingle(endpoint.query)
  const decodeParams = decoder(endpoint.params, HttpApi.ParamsParseOptions)
  const decodeHeaders = decoder(endpoint.headers, HttpApi.HeadersParseOptions)
  const decodeQuery = decoder(query, HttpApi.QueryParseOptions)
  const decodePayload = payload && PlainJson.decoder(payload.ast, optionsOf(HttpApi.PayloadParseOptions))
  const encodeSuccess = PlainJson.encoder(success.ast, optionsOf(HttpApi.SuccessParseOptions))

  const endpointWith = HttpApiBuilder.endpoint as unknown as (
    ...args: readonly [HttpApi.Top, string, string, () => Effect.Effect<unknown, unknown, unknown>]
  ) => Effect.Effect<Handler>
  const answering = Effect.runSyncWith(captured)(
    endpointWith(definition, group.identifier, endpoint.identifier, () => Effect.flatMap(Outcome, identity))
  )
  const answer: CompiledEndpoint["answer"] = (outcome) =>
    Effect.provideService(answering, Outcome, outcome as Effect.Effect<never, unknown>)

  const collect = Validation.collector(parts)
  const checkPayload = Validation.checker(payload, optionsOf(HttpApi.PayloadParseOptions))
  const invalid = (found: ReturnType<Validation.Collect>): Handler =>
    Effect.flatMapEager(found, (validationErrors) =>
      validationErrors.length > 0 ? Effect.fail(new InvalidRequest({ validationErrors })) : stock
    )

  /** Puts a part, once decoded, into the input; gives what answers instead, where it is not valid. */
  const putPart = (
    input: Input,
    name: "params" | "headers" | "query",
    decoded: Effect.Effect<unknown, unknown>,
    parts: Parts
  ): Handler | undefined => {
    if (!Exit.isExit(decoded)) return stock
    if (Exit.isFailure(decoded)) return invalid(collect({ request: input.request, ...parts }))
    input[name] = decoded.value
    return undefined
  }

  const decodeHead: CompiledEndpoint["decodeHead"] = (input, parts) =>
    (decodeParams && putPart(input, "params", decodeParams(parts.params), parts)) ??
    (decodeHeaders && putPart(input, "headers", decodeHeaders(input.request.headers), parts)) ??
    (decodeQuery && putPart(input, "query", decodeQuery(parts.query), parts))

  const decodeBody: CompiledEndpoint["decodeBody"] = (input, parts, text) => {
    if (text === "") return stock
    const json = parse(text)
    if (json === undefined) return invalid(collect({ request: input.request, ...parts }))
    const decoded = decodePayload!(json)
    if (!Exit.isExit(decoded)) return stock
    // The parts before it are known to be valid.
    if (Exit.isFailure(decoded)) return invalid(checkPayload(json, "body"))
    input.payload = decoded.value
    return undefined
  }

  const call: CompiledEndpoint["call"] = (input) => {
    try {
      return handler(input) as Effect.Effect<unknown, unknown>
    } catch (defect) {
      return Effect.die(defect)
    }
  }

  const encode: CompiledEndpoint["encode"] = (value) => {
    if (HttpServerResponse.isHttpServerResponse(value)) return Effect.succeed(value)
    const encoded = encodeSuccess(value)
    if (!Exit.isExit(encoded) || Exit.isFailure(encoded)) return answer(Effect.succeed(value))
    return stringify(encoded.value) ?? answer(Effect.succeed(value))
  }

  const respond = (value: unknown): Handler => {
    const encoded = encode(value)
    return typeof encoded === "string" ? Effect.succeed(responseOf(encoded, status!)) : encoded
  }

  const inputOf: CompiledEndpoint["inputOf"] = (request) => ({ request, endpoint, group })

  return {
    takesBody: decodePayload !== undefined,
    inputOf,
    decodeHead,
    decodeBody,
    call,
    base: RequestContext.baseOf(captured),
    status: status!,
    encode,
    answer,
    handler: Effect.withFiber((fiber) => {
      const context = fiber.context as Context.Context<any>
      const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
      const { params } = Context.getUnsafe(context, HttpRouter.RouteContext)
      const query = Context.getUnsafe(context, HttpServerRequest.ParsedSearchParams)
      const input = inputOf(request)
      const parts = { params, query }
      /** Runs the handler with its services; what comes after it, such as the host's own log lines, runs without them again. */
      const run = (): Handler => {
        fiber.setContext(within(context))
        return Effect.matchCauseEffect(call(input), {
          onSuccess: (value) => {
            fiber.setContext(context)
            return respond(value)
          },
          onFailure: (cause) => {
            fiber.setContext(context)
            return answer(Effect.failCause(cause))
          }
        })
      }
      const instead = decodeHead(input, parts)
      if (instead !== undefined) return instead
      if (decodePayload === undefined) return run()
      if (!takes(request.headers["content-type"])) return stock
      return Effect.matchEffect(request.text, {
        onFailure: Effect.die,
        onSuccess: (text) => decodeBody(input, parts, text) ?? run()
      })
    })
  }
}

const unsupported = Symbol()

/** The schema of a payload in JSON; absent where the endpoint takes none. */
const jsonPayload = (endpoint: HttpApiEndpoint.Top): Schema.Constraint | undefined | typeof unsupported => {
  if (endpoint.payload.size === 0) return undefined
  const payload = endpoint.payload.get("application/json")
  return endpoint.payload.size === 1 && payload?.encoding._tag === "Json" && HttpMethod.hasBody(endpoint.method)
    ? Validation.payloadSchema(payload.schemas)
    : unsupported
}

/** The one success with its status, where its body is plain JSON and nothing else goes with it. */
const jsonSuccess = (
  successes: EndpointParts["successes"]
): readonly [status: number, schema: Schema.Top] | readonly [] => {
  const [success, ...others] = Array.from(successes, ([status, schemas]) =>
    schemas.map((schema) => [status, schema] as const)
  ).flat()
  return success !== undefined &&
    others.length === 0 &&
    Platform.sendsBody(success[0]) &&
    isPlain(success[1]) &&
    !HttpApiSchema.isNoContent(success[1].ast)
    ? success
    : []
}

/** The API runtime marks by properties what is no value but a stream, an upgrade, or a value with headers. */
const isPlain = (schema: Schema.Top): boolean =>
  !Object.keys(schema).some((key) => key.startsWith("~effect/http-api/HttpApiSchema/")) &&
  ["~httpApiEncoding", "~httpApiWithHeaders"].every((key) => SchemaAST.resolveAt(key)(schema.ast) === undefined)

/** Whether a body of this type is what compiled endpoints decode: JSON, which it is also where it does not say. */
export const takes = (contentType: string | undefined): boolean =>
  contentType === undefined || MediaType.essence(contentType) === "application/json"

/** A success that was encoded. */
export const responseOf = (json: string, status: number): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(json, { status, contentType: "application/json" })

/** The value of a JSON text; absent where it is none. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const stringify = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}
