/**
 * Cross-origin resource sharing: which scripts of other origins may read answers, by the Fetch standard
 * (https://fetch.spec.whatwg.org/#http-cors-protocol).
 *
 * It is the browser that refuses; a request of a refused origin is answered as any other, without leave to read it.
 */
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import { any, type CorsPolicy } from "./CorsPolicy.ts"
import * as OriginPattern from "./OriginPattern.ts"
import * as Vary from "../Compression/Vary.ts"

/** The rules of one policy. */
export interface Cors {
  /** The answer to a preflight, which no route sees. Absent for every other request, a plain `OPTIONS` among them. */
  readonly preflight: (request: HttpServerRequest) => HttpServerResponse.HttpServerResponse | undefined
  /** Adds to an answer what lets scripts read it; to every answer, errors among them, when all other headers are there. */
  readonly share: (
    response: HttpServerResponse.HttpServerResponse,
    request: HttpServerRequest
  ) => HttpServerResponse.HttpServerResponse
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

  /** What lets an origin read; absent where it may not. */
  const permission = (origin: string | undefined): Record<string, string> | undefined => {
    if (isAnyOrigin) return { "access-control-allow-origin": any }
    if (origin === undefined || !isAllowed(origin)) return undefined
    return {
      "access-control-allow-origin": origin,
      ...(allowCredentials ? { "access-control-allow-credentials": "true" } : undefined)
    }
  }

  /** Where requests come with credentials, `*` is a name like any other: the names of the answer's own headers do then. */
  const exposedOf = (response: HttpServerResponse.HttpServerResponse): string =>
    exposed ?? (allowCredentials ? Object.keys(response.headers).join(", ") : any)

  return {
    preflight: (request) => {
      const { origin, "access-control-request-method": method } = request.headers
      if (request.method !== "OPTIONS" || origin === undefined || method === undefined) return undefined
      const allowed = permission(origin)
      return HttpServerResponse.empty({
        status: 204,
        headers: {
          vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
          ...(allowed === undefined
            ? undefined
            : {
                ...allowed,
                // What was asked for says more than `*`, which speaks neither for Authorization nor with credentials.
                ...named("access-control-allow-methods", methods ?? tokensOf(method)),
                ...named(
                  "access-control-allow-headers",
                  headers ?? tokensOf(request.headers["access-control-request-headers"])
                ),
                ...(policy.maxAge === undefined
                  ? undefined
                  : { "access-control-max-age": String(Math.floor(Duration.toSeconds(policy.maxAge))) })
              })
        }
      })
    },
    share: (response, request) => {
      const allowed = permission(request.headers["origin"])
      return HttpServerResponse.setHeaders(response, {
        ...(allowed === undefined
          ? undefined
          : { ...allowed, ...named("access-control-expose-headers", exposedOf(response)) }),
        // A cache must not give the answer for one origin to another.
        ...(isAnyOrigin ? undefined : { vary: Vary.add(response.headers["vary"], "Origin") })
      })
    }
  }
}

/** A header that lists names; none where there are none. */
const named = (header: string, names: string): Record<string, string> | undefined =>
  names === "" ? undefined : { [header]: names }

/** The names in a list that a client sent, as it may be sent back. */
const tokensOf = (list: string | undefined): string =>
  (list ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name))
    .join(", ")
