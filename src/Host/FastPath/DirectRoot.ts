/**
 * The way of plain requests: from Node's server to a compiled endpoint and back, with a fiber only where a handler needs one.
 *
 * What is not plain is left to Effect's platform as it comes, before anything has happened: other protocols, other media types,
 * routes that are not compiled, requests that the host refuses by their heads. What turns out not to be plain later, such as
 * a request that is not valid, is answered by the same pipeline as every other.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Cookies from "effect/http/Cookies"
import type { PreResponseHandler } from "effect/http/HttpEffect"
import { MaxBodySize } from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import { ClientAbort } from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import { ParentSpan } from "effect/Tracer"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { ForwardedHeaders } from "../ForwardedHeaders/ForwardedHeaders.ts"
import * as Peer from "../ForwardedHeaders/Peer.ts"
import * as BodyBytes from "../Http/BodyBytes.ts"
import { CurrentRequest } from "../Http/CurrentRequest.ts"
import type { Exchange } from "../Http/Exchange.ts"
import * as MediaType from "../Http/MediaType.ts"
import type { Pipeline } from "../Http/Pipeline.ts"
import * as RequestBody from "../Http/RequestBody.ts"
import * as RequestHead from "../Http/RequestHead.ts"
import type { Handler } from "../Http/Route.ts"
import type { CompiledRoute, FindCompiled, FoundRoute } from "../Http/RouteRegistry.ts"
import * as Memo from "../Memo.ts"
import type { ServerLimits } from "../Tls/ServerLimits.ts"
import * as CompiledEndpoint from "./CompiledEndpoint.ts"
import * as JsonHeaders from "./JsonHeaders.ts"
import { NodeRequest } from "./NodeRequest.ts"
import type { Platform } from "./Platform.ts"

/** What the way of plain requests is made of. */
export interface DirectOptions {
  readonly pipeline: Pipeline
  readonly forwarded: ForwardedHeaders
  readonly limits: ServerLimits & { readonly maxRequestSize: number }
  readonly find: FindCompiled
  /** Whether an answer of this size goes out as it is to a client with this `Accept-Encoding`. */
  readonly isSentAsItIs: (bytes: number, acceptEncoding: string | undefined) => boolean
  readonly isShuttingDown: () => boolean
}

/** Serves requests over HTTP. Fibers run with these services, until the scope closes. */
export type DirectRoot = (
  services: Context.Context<never>,
  scope: Scope.Scope,
  platform: Platform
) => (source: IncomingMessage, response: ServerResponse) => void

/** By which a handler changes the answer that is sent (`HttpEffect.appendPreResponseHandler`). */
interface RequestState {
  preResponseHandler: PreResponseHandler | undefined
  loggerDisabled: boolean
}

/** The key under which Effect's own root of a request keeps that. */
const CurrentRequestState = Context.Service<RequestState>("effect/http/HttpEffect/CurrentRequestState")

/** A plain request on its way. */
interface Job {
  readonly source: IncomingMessage
  readonly response: ServerResponse
  readonly exchange: Exchange
  readonly route: CompiledRoute
  readonly found: FoundRoute
  request: HttpServerRequest.HttpServerRequest | undefined
  /** What a fiber of the request may have left behind. */
  state: RequestState | undefined
  scope: Scope.Closeable | undefined
}

type Refusal = Exit.Exit<HttpServerResponse.HttpServerResponse | undefined>

/** Makes the way of plain requests. */
export const make =
  (options: DirectOptions): DirectRoot =>
  (services, servingScope, platform) => {
    const { forwarded, isSentAsItIs, isShuttingDown, limits, pipeline } = options
    const base = CompiledEndpoint.baseOf(services)
    const clock = Context.get(services, Clock.Clock)
    const headersOf = JsonHeaders.make(pipeline.dress, clock)
    const { maxRequestSize, maxRequestValues } = limits

    /** The route of a request, where both are plain. */
    const find = (source: IncomingMessage): FoundRoute | undefined => {
      const { headers, httpVersionMajor, method, url } = source
      if (httpVersionMajor !== 1 || url!.charCodeAt(0) !== slash || isShuttingDown()) return undefined
      if (headers["set-cookie"] !== undefined || headers["content-encoding"] !== undefined) return undefined
      if (headers.expect !== undefined || headers.upgrade !== undefined) return undefined
      const { accept } = headers
      if (accept !== undefined && !getsJson(accept)) return undefined
      const found = options.find(method!, url!)
      if (found === undefined) return undefined
      const length = headers["content-length"]
      const hasBody = length !== undefined || headers["transfer-encoding"] !== undefined
      if (hasBody !== found.handler.endpoint.takesBody) return undefined
      if (hasBody && !(isJson(headers["content-type"]) && !(Number(length) > maxRequestSize))) return undefined
      return RequestHead.problemOf(headOf(source), source, limits) === undefined ? found : undefined
    }

    const serve = (source: IncomingMessage, response: ServerResponse): void => {
      const found = find(source)
      if (found === undefined) return platform.serve(source, response)
      let head = headOf(source)
      const ends = forwarded.endsFrom(Peer.ofSocket(source.socket), head.headers)
      if (ends.host !== head.headers["host"]) head = { ...head, headers: { ...head.headers, host: ends.host } }
      const exchange = pipeline.open(head, ends, clock)
      const route = found.handler
      const job: Job = {
        source,
        response,
        exchange,
        route,
        found,
        request: undefined,
        state: undefined,
        scope: undefined
      }
      const refusal = pipeline.refusal(exchange)
      if (Exit.isExit(refusal)) admit(job, refusal as Refusal)
      else start(job, refusal, services, true, admit)
    }

    const admit = (job: Job, refusal: Refusal): void => {
      const { exchange, route, source } = job
      if (Exit.isFailure(refusal)) return end(job, Exit.failCause(refusal.cause))
      if (refusal.value !== undefined) return end(job, Exit.succeed(refusal.value))
      exchange.route = route.template
      exchange.plugin = route.plugin
      if (!route.endpoint.takesBody) return handle(job, undefined)
      const toError = (cause: unknown) => BodyBytes.errorOf(requestOf(job, undefined), cause)
      BodyBytes.collect(source, maxRequestSize, toError, (bytes) => {
        handle(job, requestOf(job, bytes).text)
      })
    }

    const requestOf = (job: Job, bytes: BodyBytes.Bytes | undefined): HttpServerRequest.HttpServerRequest => {
      const request = new NodeRequest(job.source, job.response, job.exchange)
      return (job.request = RequestBody.checked(request, maxRequestSize, maxRequestValues, bytes))
    }

    /** Decodes the parts of a request, and runs the handler of its endpoint. */
    const handle = (job: Job, text: Effect.Effect<string, unknown> | undefined): void => {
      const { found } = job
      const { endpoint, route } = found.handler
      const called = attempt(() => {
        const input = endpoint.inputOf(job.request ?? requestOf(job, undefined))
        const parts = { params: found.params, query: found.searchParams }
        const instead = endpoint.decodeHead(input, parts) ?? (text && decodedBody(endpoint, input, parts, text))
        return instead === undefined ? endpoint.call(input) : { instead }
      })
      if ("instead" in called) answer(job, called.instead)
      else if (Exit.isExit(called)) respond(job, called)
      else start(job, called, contextOf(job, endpoint.base), route.uninterruptible, respond)
    }

    const respond = (job: Job, exit: Exit.Exit<unknown, unknown>): void => {
      const { endpoint } = job.route
      if (Exit.isFailure(exit)) return answer(job, endpoint.answer(exit))
      const encoded = attempt(() => endpoint.encode(exit.value))
      if (typeof encoded !== "string") answer(job, encoded)
      else if (isShuttingDown() || job.state?.preResponseHandler !== undefined) answer(job, jsonOf(encoded, endpoint))
      else sendJson(job, encoded)
    }

    const sendJson = (job: Job, json: string): void => {
      const { exchange, response } = job
      const { status } = job.route.endpoint
      const bytes = Buffer.byteLength(json)
      if (!isSentAsItIs(bytes, exchange.headers["accept-encoding"])) {
        return answer(job, jsonOf(json, job.route.endpoint))
      }
      pipeline.close(exchange, status, bytes)
      if (!response.destroyed) response.writeHead(status, headersOf(exchange, status, bytes)).end(json)
      closeScope(job, Exit.void)
    }

    /** Answers by the pipeline, with what a handler ends with that runs as it would in the API runtime. */
    const answer = (job: Job, handler: Handler): void => {
      const isOver = Exit.isExit(handler)
      const answered = attempt(() => pipeline.run(job.exchange, isOver ? handler : Effect.interruptible(handler)))
      if (Exit.isExit(answered) && job.state?.preResponseHandler === undefined) return end(job, answered)
      const effect = Effect.flatMap(
        answered,
        (response): Effect.Effect<HttpServerResponse.HttpServerResponse, unknown> =>
          job.state?.preResponseHandler?.(job.request!, response) ?? Effect.succeed(response)
      )
      if (job.request === undefined) requestOf(job, undefined)
      start(job, effect, contextOf(job, base), true, end)
    }

    /** Sends what was made of an answer; what is not made of bytes is sent by the platform. */
    const end = (job: Job, exit: Exit.Exit<HttpServerResponse.HttpServerResponse, unknown>): void => {
      const { response, source } = job
      const isRead = source.complete || !job.route.endpoint.takesBody
      if (Exit.isSuccess(exit) && isRead && (response.destroyed || isWritten(response, exit.value))) {
        closeScope(job, Exit.void)
      } else {
        platform.send(
          source,
          response,
          Effect.andThen(
            Effect.addFinalizer((exit) => closing(job, exit)),
            exit
          )
        )
      }
    }

    /** Begins a fiber, which ends with the client and with the host. */
    const start = <A, E>(
      job: Job,
      effect: Effect.Effect<A, E, any>,
      context: Context.Context<never>,
      uninterruptible: boolean,
      done: (job: Job, exit: Exit.Exit<A, E>) => void
    ): void => {
      const fiber = Effect.runForkWith(context as Context.Context<any>)(effect, { uninterruptible })
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return done(job, exit)
      const { response } = job
      const leave = () => {
        if (!response.writableEnded) fiber.interruptUnsafe(undefined, ClientAbort.annotation)
      }
      response.on("close", leave)
      fiber.addObserver((exit) => {
        response.off("close", leave)
        done(job, exit)
      })
      Fiber.runIn(fiber, servingScope)
    }

    /** What a fiber of the request sees, besides the services that it is given. */
    const contextOf = (job: Job, base: Context.Context<never>): Context.Context<never> => {
      const { exchange, found, route } = job
      const state = (job.state ??= { preResponseHandler: undefined, loggerDisabled: false })
      const scope = (job.scope ??= Scope.makeUnsafe())
      let context = Context.addUnsafe(base, CurrentRequestState.key, state)
      context = Context.addUnsafe(context, Scope.Scope.key, scope)
      context = Context.addUnsafe(context, CurrentRequest.key, exchange)
      if (exchange.span !== undefined) context = Context.addUnsafe(context, ParentSpan.key, exchange.span)
      context = Context.addUnsafe(context, MaxBodySize.key, maxRequestSize)
      context = Context.addUnsafe(context, HttpServerRequest.HttpServerRequest.key, job.request!)
      context = Context.addUnsafe(context, HttpServerRequest.ParsedSearchParams.key, found.searchParams)
      return Context.addUnsafe(context, HttpRouter.RouteContext.key, {
        params: found.params,
        route: route.route
      })
    }

    const closing = ({ scope }: Job, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
      scope === undefined || Reflect.has(scope, scopeEjected) ? Effect.void : Scope.close(scope, exit)

    /** Releases what the handler acquired for as long as the request goes on. */
    const closeScope = (job: Job, exit: Exit.Exit<unknown, unknown>): void => {
      if (job.scope === undefined || job.scope.state._tag === "Empty") return
      Fiber.runIn(Effect.runForkWith(services)(closing(job, exit), { uninterruptible: true }), servingScope)
    }

    return serve
  }

const slash = 0x2f

const headOf = ({ headers, method, url }: IncomingMessage): RequestHead.RequestHead => ({
  method: method!,
  url: url!,
  // Only `set-cookie` comes as a list.
  headers: headers as RequestHead.RequestHead["headers"]
})

const getsJson = Memo.make(
  (accept: string) => MediaType.admits(accept, "application/json") && !MediaType.prefersYaml(accept)
)

const isJson = (contentType: string | undefined): boolean =>
  contentType === undefined ||
  contentType === "application/json" ||
  MediaType.essence(contentType) === "application/json"

/** A body that was read is a text, or why it is none. */
const decodedBody = (
  endpoint: CompiledEndpoint.CompiledEndpoint,
  input: CompiledEndpoint.Input,
  parts: CompiledEndpoint.Parts,
  text: Effect.Effect<string, unknown>
): Handler | undefined =>
  Exit.isExit(text) && Exit.isSuccess(text)
    ? endpoint.decodeBody(input, parts, text.value as string)
    : Effect.andThen(Effect.orDie(text), Effect.never)

const jsonOf = (json: string, { status }: CompiledEndpoint.CompiledEndpoint): Handler =>
  Effect.succeed(HttpServerResponse.text(json, { status, contentType: "application/json" }))

/** Writes an answer of bytes; false, with nothing written, where it is none, or Node does not take it. */
const isWritten = (
  nodeResponse: ServerResponse,
  { body, cookies, headers, status, statusText }: HttpServerResponse.HttpServerResponse
): boolean => {
  if (body._tag !== "Uint8Array" || body.contentLength > largest || !Cookies.isEmpty(cookies)) return false
  if (status === 204 || status === 205 || status === 304) return false
  try {
    nodeResponse.writeHead(status, statusText, headers)
  } catch {
    return false
  }
  nodeResponse.end(body.text ?? body.body)
  return true
}

/** What is larger than this, in bytes, is waited for. */
const largest = 1024 * 1024

/** What is thrown where nobody catches it is a defect. */
const attempt = <A>(evaluate: () => A): A | Exit.Exit<never> => {
  try {
    return evaluate()
  } catch (defect) {
    return Exit.die(defect)
  }
}

/** How a handler keeps the scope of its request open (`HttpEffect.scopeDisableClose`). */
const scopeEjected = Symbol.for("effect/http/HttpEffect/scopeEjected")
