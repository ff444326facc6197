/**
 * The headers of answers in JSON. But for the id of the request, what is left of its limit and the length of the body, they
 * are the same for all requests of one origin: so they are made once, by what makes the headers of every other answer.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Exchange } from "../Http/Exchange.ts"
import type { Pipeline } from "../Http/Pipeline.ts"
import * as RequestId from "../Http/RequestId.ts"
import * as Memo from "../Memo.ts"

/** Gives names and values by turns, as Node takes them. */
export type JsonHeaders = (exchange: Exchange, status: number, bytes: number) => Array<string>

/** All headers in their order, and where those stand that differ. */
interface Template {
  readonly headers: ReadonlyArray<string>
  readonly requestId: number
  readonly contentLength: number
  readonly limits: ReadonlyArray<readonly [name: string, index: number]>
}

/** Makes headers for answers that go out as they are, with nothing compressed, from a host that is not shutting down. */
export const make = (dress: Pipeline["dress"], clock: Clock.Clock, contentType: string): JsonHeaders => {
  const templateOf = (origin: string | undefined, status: number, limitNames: ReadonlyArray<string>): Template => {
    const headers = origin === undefined ? {} : { origin }
    const exchange = new Exchange({ method: "POST", url: "/", headers }, nowhere, clock, 0n, "", undefined)
    exchange.limitHeaders = Object.fromEntries(limitNames.map((name) => [name, ""]))
    const answer = HttpServerResponse.text("", { status, contentType })
    const made = Object.entries(Effect.runSync(dress(exchange, answer)).headers).flat()
    const valueOf = (name: string) => made.indexOf(name) + 1
    return {
      headers: made,
      requestId: valueOf(RequestId.header),
      contentLength: valueOf("content-length"),
      limits: limitNames.map((name) => [name, valueOf(name)])
    }
  }

  const templatesOf = (limitNames: ReadonlyArray<string>) =>
    Memo.make((status: number) =>
      Memo.make((origin: string) => templateOf(origin === none ? undefined : origin, status, limitNames))
    )
  const unlimited = templatesOf([])
  /** The limiter always names the same headers, where it names any. */
  let limited: typeof unlimited | undefined

  return ({ headers: { origin = none }, limitHeaders, requestId }, status, bytes) => {
    const templates = limitHeaders === undefined ? unlimited : (limited ??= templatesOf(Object.keys(limitHeaders)))
    const template = templates(status)(origin)
    const headers = template.headers.slice()
    headers[template.requestId] = requestId
    headers[template.contentLength] = String(bytes)
    for (const [name, index] of template.limits) headers[index] = limitHeaders![name]!
    return headers
  }
}

/** Stands for no origin; no header has such a value. */
const none = "\n"

const nowhere = { clientAddress: undefined, scheme: "http", host: undefined, areAsSent: true } as const
