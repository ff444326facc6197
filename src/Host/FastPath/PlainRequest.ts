/** A plain request on its way to its route, and the answer on its way back. */
import type * as ByteSize from "effect/ByteSize"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Cookies from "effect/http/Cookies"
import { ClientAbort } from "effect/http/HttpServerError"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as BodyBytes from "../Http/BodyBytes.ts"
import type { Exchange } from "../Http/Exchange.ts"
import * as Failure from "../Http/Failure.ts"
import type { Pipeline } from "../Http/Pipeline.ts"
import * as Problem from "../Http/Problem.ts"
import * as RequestBody from "../Http/RequestBody.ts"
import type { Handler } from "../Http/Route.ts"
import type { FoundRoute } from "../Http/RouteRegistry.ts"
import { type CompiledEndpoint, responseOf } from "./CompiledEndpoint.ts"
import type { JsonHeaders } from "./JsonHeaders.ts"
import { NodeRequest } from "./NodeRequest.ts"
import * as Platform from "./Platform.ts"
import * as RequestContext from "./RequestContext.ts"

/** What all requests to a listener share. */
export interface Surroundings {
  /** What fibers see, where an endpoint has captured nothing else. */
  readonly services: Context.Context<never>
  /** Ends the fibers of requests when it closes. */
  readonly scope: Scope.Scope
  readonly platform: Platform.Platform
  /** Ends the wait of each request for its body. */
  readonly readers: Set<() => void>
  readonly pipeline: Pipeline
  readonly maxBodySize: ByteSize.ByteSize
  readonly limits: { readonly maxRequestSize: number; readonly maxRequestValues: number }
  readonly isSentAsItIs: (bytes: number, acceptEncoding: string | undefined) => boolean
  readonly isShuttingDown: () => boolean
  readonly jsonHeaders: JsonHeaders
  readonly problemHeaders: JsonHeaders
}

type Response = HttpServerResponse.HttpServerResponse

/** One request. What goes wrong on its way is answered, and never thrown. */
export class PlainRequest {
  readonly #surroundings: Surroundings
  readonly #source: IncomingMessage
  readonly #response: ServerResponse
  readonly #exchange: Exchange
  readonly #found: FoundRoute
  #request: HttpServerRequest | undefined
  /** What fibers of the request share; absent where it has had none. */
  #fibers: RequestContext.OfFibers | undefined

  constructor(
    surroundings: Surroundings,
    source: IncomingMessage,
    response: ServerResponse,
    exchange: Exchange,
    found: FoundRoute
  ) {
    this.#surroundings = surroundings
    this.#source = source
    this.#response = response
    this.#exchange = exchange
    this.#found = found
  }

  /** Serves the request: now, or when its body, its handler or the store of the rate limiter is ready. */
  serve(): void {
    this.#guarded(() => {
      const refusal = this.#surroundings.pipeline.refusal(this.#exchange)
      if (isDone(refusal)) this.#admit(refusal)
      else this.#fork(refusal, this.#surroundings.services, true, (exit) => this.#admit(exit))
    })
  }

  #admit(refusal: Exit.Exit<Response | undefined>): void {
    if (Exit.isFailure(refusal)) return this.#send(Exit.failCause(refusal.cause))
    if (refusal.value !== undefined) return this.#send(Exit.succeed(refusal.value))
    const { endpoint, plugin, route, template } = this.#found.handler
    if (endpoint === undefined) return this.#answer(this.#hasLeft ? clientLeft : (route.handler as Handler))
    this.#exchange.route = template
    this.#exchange.plugin = plugin
    if (endpoint.takesBody) this.#read(endpoint)
    else this.#handle(endpoint, undefined)
  }

  /** Whether the client has left, and with it whoever would work for it. */
  get #hasLeft(): boolean {
    return this.#response.destroyed && !this.#found.handler.route.uninterruptible
  }

  /** Waits for the body, and no longer than the host waits for requests when it stops. */
  #read(endpoint: CompiledEndpoint): void {
    const { limits, readers } = this.#surroundings
    const stop = (): void => {
      if (this.#found.handler.route.uninterruptible || !readers.delete(stop)) return
      this.#guarded(() => this.#answer(Exit.interrupt()))
    }
    readers.add(stop)
    const toError = (cause: unknown) => BodyBytes.errorOf(this.#requestWith(undefined), cause)
    BodyBytes.collect(this.#source, limits.maxRequestSize, toError, (bytes) => {
      if (!readers.delete(stop)) return
      this.#guarded(() => this.#handle(endpoint, this.#requestWith(bytes).text))
    })
  }

  /** Decodes the parts of a request to an endpoint, and runs its handler. */
  #handle(endpoint: CompiledEndpoint, text: Effect.Effect<string, unknown> | undefined): void {
    if (this.#hasLeft) return this.#answer(clientLeft)
    const { handler, params, searchParams: query } = this.#found
    const called = attempt(() => {
      const input = endpoint.inputOf(this.#request ?? this.#requestWith(undefined))
      const parts = { params, query }
      let instead = endpoint.decodeHead(input, parts)
      if (instead === undefined && text !== undefined) {
        instead = isDone(text) && Exit.isSuccess(text) ? endpoint.decodeBody(input, parts, text.value) : notRead(text)
      }
      return instead === undefined ? endpoint.call(input) : { instead }
    })
    if ("instead" in called) return this.#refuse(called.instead)
    if (isDone(called)) return this.#respond(endpoint, called)
    const context = this.#contextFor(endpoint.base)
    this.#fork(called, context, handler.route.uninterruptible, (exit) => this.#respond(endpoint, exit))
  }

  /** Answers with what the handler of an endpoint ended with. */
  #respond(endpoint: CompiledEndpoint, exit: Exit.Exit<unknown, unknown>): void {
    if (Exit.isFailure(exit)) return this.#answer(endpoint.answer(exit))
    const encoded = attempt(() => endpoint.encode(exit.value))
    if (typeof encoded !== "string") return this.#answer(encoded)
    const { status } = endpoint
    if (!this.#isSent(encoded, status, this.#surroundings.jsonHeaders)) {
      this.#answer(Effect.succeed(responseOf(encoded, status)))
    }
  }

  /** Answers instead of the handler of an endpoint, most often that the request is not valid. */
  #refuse(instead: Handler): void {
    if (isDone(instead) && Exit.isFailure(instead)) {
      const problem = Failure.invalidRequestOf(instead.cause)
      if (problem !== undefined) {
        this.#exchange.failure = instead.cause
        const text = JSON.stringify(Problem.toJson(problem, this.#exchange.occurrence))
        if (this.#isSent(text, problem.status, this.#surroundings.problemHeaders)) return
      }
    }
    this.#answer(instead)
  }

  /** Sends a text; false, with nothing sent, where it does not go out as it is. */
  #isSent(text: string, status: number, headers: JsonHeaders): boolean {
    const { isSentAsItIs, isShuttingDown, pipeline } = this.#surroundings
    const bytes = Buffer.byteLength(text)
    if (bytes >= large || !isSentAsItIs(bytes, this.#exchange.headers["accept-encoding"])) return false
    if (isShuttingDown()) return false
    // Who has taken up the answer, or changes it, is not passed by.
    if (this.#response.headersSent || this.#fibers?.state.preResponseHandler !== undefined) return false
    pipeline.close(this.#exchange, status, bytes)
    if (!this.#response.destroyed) {
      this.#response.writeHead(status, headers(this.#exchange, status, bytes)).end(text, encodingOf(text, bytes))
    }
    this.#release()
    return true
  }

  /** Answers by the pipeline with what a handler ends with, which runs as on Effect's platform. */
  #answer(handler: Handler): void {
    const { pipeline, services } = this.#surroundings
    const { uninterruptible } = this.#found.handler.route
    const isOver = uninterruptible || isDone(handler)
    const answered = attempt(() => pipeline.run(this.#exchange, isOver ? handler : Effect.interruptible(handler)))
    if (isDone(answered) && this.#fibers?.state.preResponseHandler === undefined) return this.#send(answered)
    const request = this.#request ?? this.#requestWith(undefined)
    const context = this.#contextFor(services)
    const sent = Effect.flatMap(
      answered,
      (response): Effect.Effect<Response, unknown> =>
        this.#fibers?.state.preResponseHandler?.(request, response) ?? Effect.succeed(response)
    )
    this.#fork(sent, context, true, (exit) => this.#send(exit))
  }

  /** Sends an answer. What is not made of bytes is sent by the platform, which also lets a body run away that was not read. */
  #send(exit: Exit.Exit<Response, unknown>): void {
    const isRead = this.#source.complete || this.#found.handler.endpoint?.takesBody !== true
    if (Exit.isSuccess(exit) && isRead && (this.#response.destroyed || isWritten(this.#response, exit.value))) {
      return this.#release()
    }
    const released = Effect.addFinalizer((exit) => this.#fibers?.close(exit) ?? Effect.void)
    this.#surroundings.platform.send(this.#source, this.#response, Effect.andThen(released, exit))
  }

  /** Releases what handlers acquired for as long as the request goes on. */
  #release(): void {
    const { scope, services } = this.#surroundings
    const closing = this.#fibers?.close(Exit.void)
    if (closing === undefined) return
    Fiber.runIn(Effect.runForkWith(services)(closing, { uninterruptible: true }), scope)
  }

  #requestWith(bytes: BodyBytes.Bytes | undefined): HttpServerRequest {
    const { maxRequestSize, maxRequestValues } = this.#surroundings.limits
    const request = new NodeRequest(this.#source, this.#response, this.#exchange)
    return (this.#request =
      bytes === undefined
        ? RequestBody.checked(request, maxRequestSize, maxRequestValues)
        : RequestBody.withBytes(
            request,
            this.#exchange.headers["content-type"],
            bytes,
            maxRequestSize,
            maxRequestValues
          ))
  }

  #contextFor(base: Context.Context<never>): Context.Context<never> {
    this.#fibers ??= new RequestContext.OfFibers()
    const { maxBodySize } = this.#surroundings
    return RequestContext.over(base, this.#exchange, this.#request!, this.#found, this.#fibers, maxBodySize)
  }

  /** Begins a fiber, which ends with the client and with the host. */
  #fork<A, E>(
    effect: Effect.Effect<A, E, any>,
    context: Context.Context<never>,
    uninterruptible: boolean,
    done: (exit: Exit.Exit<A, E>) => void
  ): void {
    const fiber = Effect.runForkWith(context as Context.Context<any>)(effect, { uninterruptible })
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) return this.#guarded(() => done(exit))
    const response = this.#response
    const leave = () => {
      if (!response.writableEnded) fiber.interruptUnsafe(undefined, ClientAbort.annotation)
    }
    response.on("close", leave)
    fiber.addObserver((exit) => {
      response.off("close", leave)
      this.#guarded(() => done(exit))
    })
    Fiber.runIn(fiber, this.#surroundings.scope)
  }

  /** Takes a step. What it throws would end the process: Node and not a fiber has called it. */
  #guarded(step: () => void): void {
    try {
      step()
    } catch (defect) {
      if (!this.#exchange.isClosed) this.#answer(Exit.die(defect))
      else if (this.#response.writableEnded) this.#release()
      else this.#send(Exit.die(defect))
    }
  }
}

const isDone = <A, E>(effect: Effect.Effect<A, E, any>): effect is Exit.Exit<A, E> => Exit.isExit(effect)

/** What the platform would end the fiber of a request with. */
const clientLeft = Exit.failCause(Cause.annotate(Cause.interrupt(), ClientAbort.annotation))

/** Why a body that was read is no text; it is known to have failed, so that nothing comes after it. */
const notRead = (text: Effect.Effect<string, unknown>): Handler => Effect.andThen(Effect.orDie(text), Effect.never)

/** What is thrown where nobody catches it is a defect. */
const attempt = <A>(evaluate: () => A): A | Exit.Exit<never> => {
  try {
    return evaluate()
  } catch (defect) {
    return Exit.die(defect)
  }
}

/** Writes an answer of bytes; false, with nothing written, where it is none, or Node does not take it. */
const isWritten = (nodeResponse: ServerResponse, { body, cookies, headers, status, statusText }: Response): boolean => {
  if (body._tag !== "Uint8Array" || body.contentLength >= large || !Cookies.isEmpty(cookies)) return false
  if (!Platform.sendsBody(status) || headers["content-length"] !== String(body.contentLength)) return false
  try {
    nodeResponse.writeHead(status, statusText, headers)
  } catch {
    return false
  }
  const { text } = body
  if (text === undefined) nodeResponse.end(body.body)
  else nodeResponse.end(text, encodingOf(text, body.contentLength))
  return true
}

/** ASCII is the same in Latin-1, which Node writes without looking at each character. */
const encodingOf = (text: string, bytes: number): "latin1" | "utf8" => (text.length === bytes ? "latin1" : "utf8")

/** An answer of so many bytes is waited for by the platform. */
const large = 1024 * 1024
