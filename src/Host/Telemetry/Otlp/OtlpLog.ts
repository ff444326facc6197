/** Log lines as OTLP has them. */
import type { LevelName } from "../../Logging/LogLevels.ts"
import type { LogRecord } from "../../Logging/LogRecord.ts"
import { Span } from "../Span.ts"
import * as TraceContext from "../TraceContext.ts"
import { Nanos, type OtlpLogRecord } from "./OtlpMessages.ts"
import { Attributes } from "./OtlpValue.ts"

const severities: { readonly [Level in LevelName]: number } = {
  Verbose: 1,
  Debug: 5,
  Information: 9,
  Warning: 13,
  Error: 17,
  Fatal: 21
}

/** A line of the log. */
export const make = (record: LogRecord): OtlpLogRecord => {
  const time = new Nanos(BigInt(record.date.getTime()) * 1_000_000n)
  return {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: severities[record.level],
    severityText: record.level,
    body: { stringValue: record.message.toWellFormed() },
    attributes: new Attributes(entriesOf(record)),
    ...idsOf(record)
  }
}

const entriesOf = ({
  error,
  namespace,
  properties,
  requestId
}: LogRecord): ReadonlyArray<readonly [string, unknown]> => {
  const entries: Array<readonly [string, unknown]> = [
    ["log.logger", namespace],
    ["http.request.id", requestId]
  ]
  if (error !== undefined) {
    entries.push(
      ["exception.type", error.type],
      ["exception.message", error.message],
      ["exception.stacktrace", error.stackTrace]
    )
  }
  for (const entry of properties) entries.push(entry)
  return entries
}

/** The host's own spans have ids that are well formed. */
const idsOf = ({ span }: LogRecord): TraceContext.Ids | undefined =>
  span instanceof Span
    ? { traceId: span.traceId, spanId: span.spanId }
    : span === undefined
      ? undefined
      : TraceContext.idsOf(span)
