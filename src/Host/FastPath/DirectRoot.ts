/**
 * The way of plain requests: from Node's server to a route and back, with a fiber only where a handler needs one.
 *
 * What is not plain is left to Effect's platform as it comes, before anything has happened: other protocols, bodies for routes
 * that are not compiled, requests that the host refuses by their heads. What turns out not to be plain later is answered by
 * the same pipeline as every other.
 */
import * as ByteSize from "effect/ByteSize"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { ForwardedHeaders } from "../ForwardedHeaders/ForwardedHeaders.ts"
import * as Peer from "../ForwardedHeaders/Peer.ts"
import * as MediaType from "../Http/MediaType.ts"
import * as Problem from "../Http/Problem.ts"
import type { Pipeline } from "../Http/Pipeline.ts"
import * as RequestHead from "../Http/RequestHead.ts"
import type { FindRoute, FoundRoute } from "../Http/RouteRegistry.ts"
import * as Memo from "../Memo.ts"
import type { ServerLimits } from "../Tls/ServerLimits.ts"
import * as CompiledEndpoint from "./CompiledEndpoint.ts"
import * as JsonHeaders from "./JsonHeaders.ts"
import { PlainRequest, type Surroundings } from "./PlainRequest.ts"
import type { Platform } from "./Platform.ts"
import * as RequestContext from "./RequestContext.ts"

/** What the way of plain requests is made of. */
export interface DirectOptions {
  readonly pipeline: Pipeline
  readonly forwarded: ForwardedHeaders
  readonly limits: ServerLimits & { readonly maxRequestSize: number }
  /** Finds the route of a request; none where something stands before all routes. */
  readonly find: FindRoute
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

/** Makes the way of plain requests. */
export const make =
  ({ find, forwarded, isSentAsItIs, isShuttingDown, limits, pipeline }: DirectOptions): DirectRoot =>
  (services, scope, platform) => {
    const clock = Context.get(services, Clock.Clock)
    const readers = new Set<() => void>()
    const stopReading = Effect.sync(() => {
      for (const stop of readers) stop()
    })
    Effect.runSync(Scope.addFinalizer(scope, stopReading))
    const surroundings: Surroundings = {
      services: RequestContext.baseOf(services),
      scope,
      platform,
      readers,
      pipeline,
      limits,
      maxBodySize: ByteSize.bytes(limits.maxRequestSize),
      isSentAsItIs,
      isShuttingDown,
      jsonHeaders: JsonHeaders.make(pipeline.dress, clock, "application/json"),
      problemHeaders: JsonHeaders.make(pipeline.dress, clock, Problem.contentType)
    }

    /** The route of a request, where both are plain. */
    const plainRouteOf = (head: RequestHead.RequestHead, source: IncomingMessage): FoundRoute | undefined => {
      const { headers, method, url } = head
      if (source.httpVersionMajor !== 1 || url.charCodeAt(0) !== slash || isShuttingDown()) return undefined
      if (headers["set-cookie"] !== undefined || headers["content-encoding"] !== undefined) return undefined
      if (headers["expect"] !== undefined || headers["upgrade"] !== undefined) return undefined
      // It may be a preflight, which no route sees.
      if (method === "OPTIONS") return undefined
      const found = find(method, url)
      if (found === undefined) return undefined
      const { endpoint, route } = found.handler
      // The platform gives such a route another URL.
      if (route.prefix._tag === "Some") return undefined
      const { accept } = headers
      if (endpoint !== undefined && accept !== undefined && !getsJson(accept)) return undefined
      const length = headers["content-length"]
      const hasBody = length !== undefined || headers["transfer-encoding"] !== undefined
      if (hasBody !== (endpoint?.takesBody ?? false)) return undefined
      if (hasBody && (!CompiledEndpoint.takes(headers["content-type"]) || Number(length) > limits.maxRequestSize))
        return undefined
      return RequestHead.problemOf(head, source, limits) === undefined ? found : undefined
    }

    const serve = (source: IncomingMessage, response: ServerResponse): void => {
      const head = headOf(source)
      const found = plainRouteOf(head, source)
      if (found === undefined) return platform.serve(source, response)
      const ends = forwarded.endsFrom(Peer.ofSocket(source.socket), head.headers)
      const seen = ends.host === head.headers["host"] ? head : withHost(head, ends.host)
      new PlainRequest(surroundings, source, response, pipeline.open(seen, ends, clock), found).serve()
    }

    return (source, response) => {
      try {
        serve(source, response)
      } catch (defect) {
        // Thrown to Node, it would end the process.
        platform.send(source, response, Effect.die(defect))
      }
    }
  }

const slash = 0x2f

const headOf = ({ headers, method, url }: IncomingMessage): RequestHead.RequestHead => ({
  method: method!,
  url: url!,
  // Only `set-cookie` comes as a list.
  headers: headers as RequestHead.RequestHead["headers"]
})

const withHost = (head: RequestHead.RequestHead, host: string | undefined): RequestHead.RequestHead => ({
  ...head,
  headers: { ...head.headers, host }
})

const getsJson = Memo.make(
  (accept: string) => MediaType.admits(accept, "application/json") && !MediaType.prefersYaml(accept)
)
