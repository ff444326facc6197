/** The request log: one line for each request that was answered. */
import { quote } from "../Logging/Escape.ts"
import * as JsonFormat from "../Logging/JsonFormat.ts"
import type { Logging } from "../Logging/Logging.ts"
import type { LogRecord } from "../Logging/LogRecord.ts"
import * as LogValue from "../Logging/LogValue.ts"
import { maskQuery } from "../Logging/SecretNames.ts"
import * as Timestamp from "../Logging/Timestamp.ts"
import * as Memo from "../Memo.ts"
import { queryOf } from "./RequestTarget.ts"

/** A request with its answer. */
export interface Answered {
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** The path alone. */
  readonly path: string
  readonly requestId: string
  /** The pattern of the route; absent where none matched. */
  readonly route: string | undefined
  readonly clientAddress: string | undefined
  readonly span: LogRecord["span"]
  readonly status: number
  /** The size of the body; absent where it is not known beforehand. */
  readonly bytes: number | undefined
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
  const record = (answered: Answered) => recordOf(answered, withQueries)
  const line = {
    record,
    json: (answered: Answered) => (isPlain(answered) ? jsonOf(answered) : JsonFormat.format(record(answered)))
  }
  return (answered: Answered): void => {
    if (!isExcluded(answered.path)) log.write("Information", namespace, line, answered)
  }
}

/** The line of a request as a record, which any format writes. */
export const recordOf = (answered: Answered, withQueries: boolean): LogRecord => {
  const query = withQueries ? queryOf(answered.url) : ""
  const budget = LogValue.budget()
  const properties = new Map<string, unknown>()
  properties.set("method", answered.method)
  properties.set("route", answered.route ?? null)
  if (query !== "") properties.set("query", maskQuery(query))
  properties.set("status", answered.status)
  properties.set("durationMs", millisOf(answered))
  properties.set("clientAddress", answered.clientAddress ?? null)
  properties.set("bytes", answered.bytes ?? null)
  return {
    date: new Date(answered.time),
    level: "Information",
    namespace,
    message: LogValue.clip(`${answered.method} ${answered.path} ${answered.status}`, budget),
    error: undefined,
    span: answered.span,
    requestId: answered.requestId,
    properties,
    budget
  }
}

/** Whether nothing of a request has to be cut or masked. */
const isPlain = ({ url }: Answered): boolean => url.length < 4096 && !url.includes("?")

/** The line of a plain request in the format `json`, as `JsonFormat` writes its record. */
export const jsonOf = (answered: Answered): string => {
  const { bytes, clientAddress, method, path, requestId, route, span, status, time } = answered
  const spanFields = span === undefined ? "" : `,"TraceId":${quote(span.traceId)},"SpanId":${quote(span.spanId)}`
  return (
    `{"@timestamp":"${Timestamp.toIso(time)}","log.level":"Information","log.logger":"${namespace}"` +
    `,"message":${quote(`${method} ${path} ${status}`)}${spanFields}` +
    `,"http.request.id":${quote(requestId)}` +
    `,"labels":{"method":${quoted(method)},"route":${route === undefined ? "null" : quoted(route)},"status":${status}` +
    `,"durationMs":${millisOf(answered)},"clientAddress":${clientAddress === undefined ? "null" : quoted(clientAddress)}` +
    `,"bytes":${bytes ?? "null"}}}\n`
  )
}

const millisOf = ({ seconds }: Answered): number => Math.round(seconds * 1e5) / 100

/** Methods, routes and clients come again. */
const quoted = Memo.make(quote)
