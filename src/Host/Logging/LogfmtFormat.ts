/**
 * The format `logfmt`: `time=… level=… logger=… msg=…` and then what there is of `error.type`, `error.message`,
 * `error.stack_trace`, `TraceId`, `SpanId`, `requestId`, and all other annotations and properties by their names.
 */
import { quote } from "./Escape.ts"
import type { LogRecord } from "./LogRecord.ts"
import * as LogValue from "./LogValue.ts"
import { isSecretName, redacted } from "./SecretNames.ts"
import { toIso } from "./Timestamp.ts"

const fields = new Set([
  "time",
  "level",
  "logger",
  "msg",
  "error.type",
  "error.message",
  "error.stack_trace",
  "TraceId",
  "SpanId",
  "requestId"
])

/** A record as one line of `key=value` pairs. */
export const format = (record: LogRecord): string => {
  let line =
    `time=${toIso(record.date.getTime())} level=${record.level}` +
    ` logger=${formatText(record.namespace)} msg=${formatText(record.message)}`
  if (record.error !== undefined) {
    line +=
      ` error.type=${formatText(record.error.type)} error.message=${formatText(record.error.message)}` +
      ` error.stack_trace=${formatText(record.error.stackTrace)}`
  }
  if (record.span !== undefined) {
    line += ` TraceId=${formatText(record.span.traceId)} SpanId=${formatText(record.span.spanId)}`
  }
  if (record.requestId !== undefined) line += ` requestId=${formatText(record.requestId)}`
  for (const [name, value] of bareProperties(record)) {
    // A property must not pass for a field of the line.
    line += ` ${fields.has(name) ? `label.${name}` : name}=${formatText(value)}`
  }
  return `${line}\n`
}

/** The properties as text, their names without white space and quotes. */
export function* bareProperties({ budget, properties }: LogRecord): Iterable<readonly [name: string, value: string]> {
  for (const [name, value] of properties) {
    if (value === undefined) continue
    const bareName = LogValue.clip(name, budget).replaceAll(notBare, "_") || "_"
    yield [bareName, isSecretName(name) ? redacted : LogValue.toText(value, budget)]
    if (budget.left <= 0) return
  }
}

const notBare = /[^!#-<>-[\]-~]/g
const bare = /^[!#-<>-[\]-~]+$/

/** A value as it is, or in quotes where it needs them. */
export const formatText = (text: string): string => (bare.test(text) ? text : quote(text))
