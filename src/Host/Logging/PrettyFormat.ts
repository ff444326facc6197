/**
 * The format `pretty`, for people at a terminal: time of day, level, namespace, message and `key=value` pairs, with the
 * error's stack indented below.
 */
import { escapeControls } from "./Escape.ts"
import type { LevelName } from "./LogLevels.ts"
import { bareProperties, formatText } from "./LogfmtFormat.ts"
import type { LogRecord } from "./LogRecord.ts"

const levels: { readonly [Name in LevelName]: { readonly label: string; readonly color: string } } = {
  Verbose: { label: "VRB", color: "90" },
  Debug: { label: "DBG", color: "34" },
  Information: { label: "INF", color: "32" },
  Warning: { label: "WRN", color: "33" },
  Error: { label: "ERR", color: "31" },
  Fatal: { label: "FTL", color: "97;41" }
}

/** Wide enough for `layerhost/SecretStore`; a longer namespace moves only its own line. */
const namespaceWidth = 21

/** Makes the format, with or without colours. */
export const make = (colors: boolean): ((record: LogRecord) => string) => {
  const paint = (color: string, text: string) => (colors ? `\u001b[${color}m${text}\u001b[0m` : text)
  const dim = (text: string) => paint("90", text)
  const formatPair = (name: string, text: string) => ` ${dim(`${name}=`)}${text}`

  return (record) => {
    const level = levels[record.level]
    let line =
      `${dim(timeOf(record.date))} ${paint(level.color, level.label)}` +
      ` ${paint("36", escapeControls(record.namespace).padEnd(namespaceWidth))} ${escapeControls(record.message)}`
    for (const [name, value] of bareProperties(record)) {
      // Objects and lists stay legible: nobody parses this format.
      line += formatPair(name, /^[[{]/.test(value) ? escapeControls(value) : formatText(value))
    }
    if (record.requestId !== undefined) line += formatPair("requestId", escapeControls(record.requestId))
    if (record.span !== undefined) {
      line += dim(` TraceId=${escapeControls(record.span.traceId)} SpanId=${escapeControls(record.span.spanId)}`)
    }
    line += "\n"
    if (record.error !== undefined) {
      for (const frame of record.error.stackTrace.split("\n")) {
        line += `    ${paint("31", escapeControls(frame))}\n`
      }
    }
    return line
  }
}

/** The local time of day: who reads this format sits beside the service. */
const timeOf = (date: Date): string =>
  `${pad(date.getHours(), 2)}:${pad(date.getMinutes(), 2)}:${pad(date.getSeconds(), 2)}.${pad(date.getMilliseconds(), 3)}`

const pad = (value: number, length: number): string => String(value).padStart(length, "0")
