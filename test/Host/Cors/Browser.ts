/**
 * What a browser makes of CORS headers, step by step as the Fetch standard has it.
 */
import * as Headers from "effect/http/Headers"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as ResponseHeaders from "../../../src/Host/Http/ResponseHeaders.ts"
import type { Cors } from "../../../src/Host/Cors/Cors.ts"

/** A request that a script makes. Its headers are names of headers that are not CORS-safelisted. */
export interface ScriptRequest {
  readonly origin: string
  readonly method: string
  readonly headers: ReadonlyArray<string>
  readonly credentials: boolean
}

/** What the script sees: nothing, or the names of the headers that it may read. */
export type Outcome =
  | { readonly _tag: "NetworkError" }
  | { readonly _tag: "Read"; readonly headers: ReadonlyArray<string> }

/** A request as the server gets it. */
export const request = (method: string, headers: Readonly<Record<string, string>>) =>
  HttpServerRequest.fromWeb(new Request("http://api.test/", { method })).modify({ headers: Headers.fromInput(headers) })

const networkError: Outcome = { _tag: "NetworkError" }

/** Sends a script's request to a server with the given policy, whose route gives the answer. */
export const send = (cors: Cors, script: ScriptRequest, answer: HttpServerResponse.HttpServerResponse): Outcome => {
  // https://fetch.spec.whatwg.org/#concept-method-normalize
  const method = /^(?:delete|get|head|options|post|put)$/i.test(script.method)
    ? script.method.toUpperCase()
    : script.method
  const isSimple = /^(?:GET|HEAD|POST)$/.test(method) && script.headers.length === 0
  if (!isSimple && !preflightPasses(cors, { ...script, method })) return networkError

  const shared = ResponseHeaders.of(answer)
  cors.share(shared, request(method, { origin: script.origin }))
  const response = ResponseHeaders.put(answer, shared)
  if (!corsCheck(response, script)) return networkError
  // https://fetch.spec.whatwg.org/#concept-filtered-response-cors
  const exposed = namesIn(response.headers["access-control-expose-headers"])
  const isAll = exposed.includes("*") && !script.credentials
  return {
    _tag: "Read",
    headers: Object.keys(response.headers).filter((name) => safelisted.has(name) || isAll || exposed.includes(name))
  }
}

const safelisted = new Set([
  "cache-control",
  "content-language",
  "content-length",
  "content-type",
  "expires",
  "last-modified",
  "pragma"
])

// https://fetch.spec.whatwg.org/#cors-preflight-fetch-0
const preflightPasses = (cors: Cors, { credentials, headers, method, origin }: ScriptRequest): boolean => {
  const unsafe = headers.map((name) => name.toLowerCase()).toSorted()
  const response = cors.preflight(
    request("OPTIONS", {
      origin,
      "access-control-request-method": method,
      ...(unsafe.length === 0 ? undefined : { "access-control-request-headers": unsafe.join(",") })
    })
  )
  if (response === undefined || response.status < 200 || response.status > 299) return false
  if (!corsCheck(response, { credentials, origin })) return false
  const methods = (response.headers["access-control-allow-methods"] ?? "").split(",").map((name) => name.trim())
  const allowedHeaders = namesIn(response.headers["access-control-allow-headers"])
  const isWild = (list: ReadonlyArray<string>) => list.includes("*") && !credentials
  if (!methods.includes(method) && !/^(?:GET|HEAD|POST)$/.test(method) && !isWild(methods)) return false
  if (unsafe.includes("authorization") && !allowedHeaders.includes("authorization")) return false
  return unsafe.every((name) => allowedHeaders.includes(name) || isWild(allowedHeaders))
}

// https://fetch.spec.whatwg.org/#concept-cors-check
const corsCheck = (
  response: HttpServerResponse.HttpServerResponse,
  { credentials, origin }: Pick<ScriptRequest, "credentials" | "origin">
): boolean => {
  const allowed = response.headers["access-control-allow-origin"]
  if (allowed === undefined) return false
  if (!credentials && allowed === "*") return true
  if (allowed !== origin) return false
  return !credentials || response.headers["access-control-allow-credentials"] === "true"
}

const namesIn = (list: string | undefined): ReadonlyArray<string> =>
  (list ?? "").split(",").map((name) => name.trim().toLowerCase())
