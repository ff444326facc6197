/** Log lines as OTLP has them. */
import type { LevelName } from "../../Logging/LogLevels.ts"
import type { LogRecord } from "../../Logging/LogRecord.ts"
import * as LogValue from "../../Logging/LogValue.ts"
import { idsOf } from "../TraceContext.ts"
import type { OtlpLogRecord } from "./OtlpMessages.ts"
import { keyValues } from "./OtlpValue.ts"

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
  const time = `${record.date.getTime()}000000`
  const { error, span } = record
  return {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: severities[record.level],
    severityText: record.level,
    body: { stringValue: record.message.toWellFormed() },
    attributes: [
      ...keyValues([
        ["log.logger", record.namespace],
        ["http.request.id", record.requestId],
        ["exception.type", error?.type],
        ["exception.message", error?.message],
        ["exception.stacktrace", error?.stackTrace]
      ]),
      ...keyValues(record.properties, LogValue.budget())
    ],
    ...(span === undefined ? undefined : idsOf(span))
  }
}
