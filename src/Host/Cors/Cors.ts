/**
 * Cross-origin resource sharing: which scripts of other origins may read answers, by the Fetch standard
 * (https://fetch.spec.whatwg.org/#http-cors-protocol).
 *
 * It is the browser that refuses; a request of a refused origin is answered as any other, without leave to read it.
 */
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import { any, type CorsPolicy } from "./CorsPolicy.ts"
import * as OriginPattern from "./OriginPattern.ts"
import * as Vary from "../Compression/Vary.ts"
import type { RequestHead } from "../Http/RequestHead.ts"
import type { ResponseHeaders } from "../Http/ResponseHeaders.ts"

/** The rules of one policy. */
export interface Cors {
  /** The answer to a preflight, which no route sees. Absent for every other request, a plain `OPTIONS` among them. */
  readonly preflight: (request: RequestHead) => HttpServerResponse.HttpServerResponse | undefined
  /** Adds to the headers of an answer what lets scripts read it; to every answer, errors too, when all others are there. */
  readonly share: (headers: ResponseHeaders, request: RequestHead) => void
}

/** Compiles a policy. */
export const make = (policy: CorsPolicy["Service"]): Cors => {
  const { allowCredentials } = policy
  const isAnyOrigin = policy.origins.includes(any)
  const isAllowed = OriginPattern.matcher(
    isAnyOrigin ? [] : policy.origins.map((text) => Result.getOrThrow(OriginPattern.parse(text)))
  )
  const methods = policy.methods.includes(any) ? undefined : policy.methods.map((name) => name.toUpperCase()).join(", ")
  const headers = policy.headers.includes(any) ? undefined : policy.headers.join(", ")
  const exposed = policy.exposedHeaders.includes(any) ? undefined : policy.exposedHeaders.join(", ")

  /** Adds what lets an origin read; false, with nothing added, where it may not. */
  const permit = (headers: ResponseHeaders, origin: string | undefined): boolean => {
    if (isAnyOrigin) {
      headers["access-control-allow-origin"] = any
      return true
    }
    if (origin === undefined || !isAllowed(origin)) return false
    headers["access-control-allow-origin"] = origin
    if (allowCredentials) headers["access-control-allow-credentials"] = "true"
    return true
  }

  /** Where requests come with credentials, `*` is a name like any other: the names of the answer's own headers do then. */
  const exposedOf = (headers: ResponseHeaders): string =>
    exposed ?? (allowCredentials ? Object.keys(headers).join(", ") : any)

  return {
    preflight: (request) => {
      const { origin, "access-control-request-method": method } = request.headers
      if (request.method !== "OPTIONS" || origin === undefined || method === undefined) return undefined
      const answer: ResponseHeaders = {
        vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
      }
      if (permit(answer, origin)) {
        // What was asked for says more than `*`, which speaks neither for Authorization nor with credentials.
        list(answer, "access-control-allow-methods", methods ?? tokensOf(method))
        const asked = request.headers["access-control-request-headers"]
        list(answer, "access-control-allow-headers", headers ?? tokensOf(asked))
        if (policy.maxAge !== undefined) {
          answer["access-control-max-age"] = String(Math.floor(Duration.toSeconds(policy.maxAge)))
        }
      }
      return HttpServerResponse.empty({ status: 204, headers: answer })
    },
    share: (headers, request) => {
      const names = exposedOf(headers)
      if (permit(headers, request.headers["origin"])) list(headers, "access-control-expose-headers", names)
      // A cache must not give the answer for one origin to another.
      if (!isAnyOrigin) headers["vary"] = Vary.add(headers["vary"], "Origin")
    }
  }
}

/** Adds a header that lists names; none where there are none. */
const list = (headers: ResponseHeaders, header: string, names: string): void => {
  if (names !== "") headers[header] = names
}
/** The names in a list that a client sent, as it may be sent back. */
const tokensOf = (list: string | undefined): string =>
  (list ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name))
    .join(", ")
