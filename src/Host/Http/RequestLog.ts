/** The request log: one line for each request that was answered. */
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import type { Logging } from "../Logging/Logging.ts"
import type { LogRecord } from "../Logging/LogRecord.ts"
import * as LogValue from "../Logging/LogValue.ts"
import { maskQuery } from "../Logging/SecretNames.ts"
import { pathOf, queryOf } from "./RequestTarget.ts"

/** A request with its answer. */
export interface Answered {
  readonly request: HttpServerRequest
  readonly response: HttpServerResponse
  readonly requestId: string
  /** The pattern of the route; absent where none matched. */
  readonly route: string | undefined
  readonly clientAddress: string | undefined
  readonly span: LogRecord["span"]
  /** When the answer was there, in milliseconds since the epoch. */
  readonly time: number
  readonly seconds: number
}

/** What the request log leaves out. */
export interface RequestLogOptions {
  /** Whether requests to this path are not told. */
  readonly isExcluded: (path: string) => boolean
  /** Whether queries are told, with the values of secret-looking names masked. */
  readonly withQueries: boolean
}

const namespace = "layerhost.host.request"

/**
 * Writes the lines of requests, at `Information`. A line is made by hand and not by a fiber's logger, since no other is
 * written as often.
 */
export const make = (log: Logging["Service"], { isExcluded, withQueries }: RequestLogOptions) => {
  return (answered: Answered): void => {
    const path = pathOf(answered.request.url)
    if (isExcluded(path)) return
    log.write("Information", namespace, () => recordOf(answered, path, withQueries))
  }
}

const recordOf = (answered: Answered, path: string, withQueries: boolean): LogRecord => {
  const { request, response } = answered
  const query = withQueries ? queryOf(request.url) : ""
  const budget = LogValue.budget()
  const properties = new Map<string, unknown>()
  properties.set("method", request.method)
  properties.set("route", answered.route ?? null)
  if (query !== "") properties.set("query", maskQuery(query))
  properties.set("status", response.status)
  properties.set("durationMs", Math.round(answered.seconds * 1e5) / 100)
  properties.set("clientAddress", answered.clientAddress ?? null)
  properties.set("bytes", "contentLength" in response.body ? (response.body.contentLength ?? null) : null)
  return {
    date: new Date(answered.time),
    level: "Information",
    namespace,
    message: LogValue.clip(`${request.method} ${path} ${response.status}`, budget),
    error: undefined,
    span: answered.span,
    requestId: answered.requestId,
    properties,
    budget
  }
}
