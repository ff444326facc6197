/**
 * The format `json`: one object a line, with the field names of the Elastic Common Schema
 * (https://www.elastic.co/docs/reference/ecs) where it has one.
 *
 * | field | content |
 * | --- | --- |
 * | `@timestamp` | ISO 8601, UTC, milliseconds |
 * | `log.level` | the level as the configuration names it, `Verbose` to `Fatal` |
 * | `log.logger` | the namespace |
 * | `message` | the text |
 * | `error.type`, `error.message`, `error.stack_trace` | the error; the trace holds the chain of causes, each after `Caused by: ` |
 * | `TraceId`, `SpanId` | the span in which the line was written, named as in OpenTelemetry's log data model |
 * | `http.request.id` | the request during which the line was written |
 * | `labels` | an object of all other annotations and properties; a name in it cannot clash with a field |
 *
 * Fields without a value are absent.
 */
import { quote } from "./Escape.ts"
import type { LogRecord } from "./LogRecord.ts"
import * as LogValue from "./LogValue.ts"
import { isSecretName, redacted } from "./SecretNames.ts"
import { toIso } from "./Timestamp.ts"

/** A record as one line of JSON. */
export const format = (record: LogRecord): string => {
  let line =
    `{"@timestamp":"${toIso(record.date.getTime())}","log.level":"${record.level}"` +
    `,"log.logger":${quote(record.namespace)},"message":${quote(record.message)}`
  if (record.error !== undefined) {
    line +=
      `,"error.type":${quote(record.error.type)},"error.message":${quote(record.error.message)}` +
      `,"error.stack_trace":${quote(record.error.stackTrace)}`
  }
  if (record.span !== undefined) {
    line += `,"TraceId":${quote(record.span.traceId)},"SpanId":${quote(record.span.spanId)}`
  }
  if (record.requestId !== undefined) line += `,"http.request.id":${quote(record.requestId)}`
  const labels = formatLabels(record)
  if (labels !== "") line += `,"labels":{${labels}}`
  return `${line}}\n`
}

const formatLabels = ({ budget, properties }: LogRecord): string => {
  let labels = ""
  for (const [name, value] of properties) {
    if (value === undefined) continue
    if (labels !== "") labels += ","
    labels += `${quote(LogValue.clip(name, budget))}:`
    labels += isSecretName(name) ? `"${redacted}"` : LogValue.toJson(value, budget)
    if (budget.left <= 0) break
  }
  return labels
}
