/**
 * A log line before it has a format.
 */
import * as Context from "effect/Context"
import type * as Logger from "effect/Logger"
import * as References from "effect/References"
import { CurrentRequest } from "../Http/CurrentRequest.ts"
import * as LogError from "./LogError.ts"
import type { LevelName } from "./LogLevels.ts"
import * as LogValue from "./LogValue.ts"

/** What a line says. Nothing in it is masked or bounded yet, except for the error and the message: a format does that. */
export interface LogRecord {
  readonly date: Date
  readonly level: LevelName
  readonly namespace: string
  readonly message: string
  readonly error: LogError.LogError | undefined
  readonly span: { readonly traceId: string; readonly spanId: string } | undefined
  /** The log annotation `requestId`, or else the id of the request that is handled. */
  readonly requestId: string | undefined
  /** Log annotations, log spans in milliseconds, and the members of plain objects among the message. */
  readonly properties: ReadonlyMap<string, unknown>
  /** What the values of this line may still take. */
  readonly budget: LogValue.Budget
}

/** How a line about something is made: as a record, and right away in the format `json`, which then is the same. */
export interface LineOf<About> {
  readonly record: (about: About) => LogRecord
  readonly json: (about: About) => string
}

/** The namespace of a line: its log annotation `namespace`, or the plugin whose route handles the request, or `app`. */
export const namespaceOf = (options: Logger.Options<unknown>): string => {
  const namespace = options.fiber.getRef(References.CurrentLogAnnotations)["namespace"]
  return typeof namespace === "string" ? namespace : (requestOf(options)?.plugin ?? "app")
}

const requestOf = ({ fiber }: Logger.Options<unknown>) => Context.getOrUndefined(fiber.context, CurrentRequest)

/** Makes a record of what Effect hands to a logger. */
export const make = (options: Logger.Options<unknown>, level: LevelName, namespace: string): LogRecord => {
  const budget = LogValue.budget()
  const properties = new Map<string, unknown>()
  let requestId = requestOf(options)?.requestId
  const annotations = options.fiber.getRef(References.CurrentLogAnnotations)
  for (const name of Object.keys(annotations)) {
    const value = annotations[name]
    if (name === "requestId" && typeof value === "string") requestId = LogValue.clip(value, budget)
    else if (name !== "namespace" || typeof value !== "string") properties.set(name, value)
  }
  for (const [label, start] of options.fiber.getRef(References.CurrentLogSpans)) {
    properties.set(`${label}Ms`, options.date.getTime() - start)
  }
  let message = ""
  const errors: Array<Error> = []
  for (const part of Array.isArray(options.message) ? options.message : [options.message]) {
    if (LogValue.isError(part)) {
      errors.push(part)
    } else if (isPlainObject(part)) {
      for (const name of LogValue.keysOf(part)) properties.set(name, LogValue.read(part, name))
    } else {
      const text = LogValue.toText(part, budget)
      message = message === "" ? text : `${message} ${text}`
    }
  }
  const error = LogError.make(options.cause, errors, budget)
  const span = options.fiber.cache.span
  return {
    date: options.date,
    level,
    namespace,
    message: message === "" && error !== undefined ? error.message || error.type : message,
    error,
    // A span that is not recorded has no ids of its own.
    span: span === undefined || span.traceId === "noop" ? undefined : span,
    requestId,
    properties,
    budget
  }
}

const isPlainObject = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== "object" || value === null) return false
  try {
    const prototype: unknown = Object.getPrototypeOf(value)
    return prototype === Object.prototype || prototype === null
  } catch {
    return false
  }
}
