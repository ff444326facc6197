/** Effect's own server of requests, beside which the direct way serves the plain ones. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import type { Scope } from "effect/Scope"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { HttpEffect } from "../Http/Pipeline.ts"

/** What Effect's server does with requests that are not plain, and with answers that are not. */
export interface Platform {
  readonly serve: (source: IncomingMessage, response: ServerResponse) => void
  /** Ends a request with an answer that is there, or with what failed. */
  readonly send: (
    source: IncomingMessage,
    response: ServerResponse,
    answer: Effect.Effect<HttpServerResponse, unknown, Scope>
  ) => void
}

/** Whether the platform sends a body with a status: some have none, and what is no final status at all is a failure to it. */
export const sendsBody = (status: number): boolean =>
  status >= 200 && status <= 599 && status !== 204 && status !== 205 && status !== 304

/**
 * Gives what the platform is to serve, and takes over for it, once it does, where Node hands requests on.
 */
export const make = (
  httpEffect: HttpEffect
): { readonly effect: HttpEffect; readonly takeOver: (server: Server) => Platform } => {
  const answers = new WeakMap<object, Effect.Effect<HttpServerResponse, unknown, Scope>>()
  return {
    effect: Effect.withFiber((fiber) => {
      const { source } = Context.getUnsafe(fiber.context as Context.Context<HttpServerRequest>, HttpServerRequest)
      return (answers.get(source) as HttpEffect | undefined) ?? httpEffect
    }),
    takeOver: (server) => {
      const serve = server.listeners("request").at(-1) as Platform["serve"]
      server.removeListener("request", serve)
      return {
        serve,
        send: (source, response, answer) => {
          answers.set(source, answer)
          serve(source, response)
        }
      }
    }
  }
}
