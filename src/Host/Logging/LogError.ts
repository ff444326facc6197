/**
 * Errors in log lines: what failed, in what, and because of what.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import type { StackFrame } from "effect/References"
import * as LogValue from "./LogValue.ts"

/** An error as a log line shows it. */
export interface LogError {
  /** The class or tag of the error, for example `NotFound`. */
  readonly type: string
  readonly message: string
  /** `type: message` and the frames, then the same of each error that caused it, each begun by `Caused by: `. */
  readonly stackTrace: string
}

/** Errors of one chain beyond this many are left out; that also ends a chain that runs in a circle. */
const maxChain = 10

/** Frames of Effect's own machinery from here on say nothing of the program. */
const runtimeFrame = /Generator\.next|~effect\/(?:Effect|Utils)/

/**
 * The error of a line: the failures and defects of its cause, and the errors among its message. The first gives type and
 * message; all are in the stack trace. An interruption counts where there is nothing else.
 */
export const make = (
  cause: Cause.Cause<unknown>,
  errors: ReadonlyArray<Error>,
  budget: LogValue.Budget
): LogError | undefined => {
  const failures: Array<Failure> = errors.map((error) => ({ error, frame: undefined }))
  for (const reason of cause.reasons) {
    if (reason._tag === "Interrupt") continue
    failures.push({
      error: reason._tag === "Fail" ? reason.error : reason.defect,
      frame: Context.getOrUndefined(Cause.reasonAnnotations(reason), Cause.StackTrace)
    })
  }
  const [first] = failures
  if (first === undefined) return cause.reasons.length === 0 ? undefined : bare("Interrupt", "The work was interrupted")
  try {
    return {
      type: typeOf(first.error),
      message: LogValue.clip(messageOf(first.error), budget),
      stackTrace: LogValue.clip(failures.map(stackOf).join("\n"), budget)
    }
  } catch {
    return bare("Unreadable", "The error throws when it is looked at")
  }
}

/** What failed, and the operation in which it did, where Effect knows it. */
interface Failure {
  readonly error: unknown
  readonly frame: StackFrame | undefined
}

const bare = (type: string, message: string): LogError => ({ type, message, stackTrace: `${type}: ${message}` })

const typeOf = (error: unknown): string => {
  if (typeof error !== "object" || error === null) return typeof error
  for (const key of ["name", "_tag"]) {
    const name = LogValue.read(error, key)
    if (typeof name === "string" && name !== "") return name.slice(0, 200)
  }
  return LogValue.isError(error) ? "Error" : "Object"
}

/** An error's own words, or where it has none its fields. */
const messageOf = (error: unknown): string => {
  if (LogValue.isError(error)) {
    const message = LogValue.read(error, "message")
    if (typeof message === "string" && message !== "") return message
    const { name: _name, message: _message, stack: _stack, cause: _cause, _tag, ...fields } = readAll(error)
    return Object.keys(fields).length === 0 ? "" : LogValue.toJson(fields, LogValue.budget())
  }
  return LogValue.toText(error, LogValue.budget())
}

const readAll = (value: object): Record<string, unknown> =>
  Object.fromEntries(LogValue.keysOf(value).map((key) => [key, LogValue.read(value, key)]))

const stackOf = ({ error, frame }: Failure): string => {
  const chain = [headOf(error) + framesOf(error)]
  for (let at: StackFrame | undefined = frame, n = 0; at !== undefined && n < maxChain; at = at.parent, n++) {
    chain.push(`    at ${at.name}${locationOf(at)}`)
  }
  const causes = causesOf(error)
  for (let cause = causes.shift(); cause !== undefined && chain.length < 2 * maxChain; cause = causes.shift()) {
    chain.push(`Caused by: ${headOf(cause)}${framesOf(cause)}`)
    causes.unshift(...causesOf(cause))
  }
  return chain.join("\n")
}

const headOf = (error: unknown): string => {
  const message = messageOf(error)
  return message === "" ? typeOf(error) : `${typeOf(error)}: ${message}`
}

const framesOf = (error: unknown): string => {
  const stack = LogValue.isError(error) ? LogValue.read(error, "stack") : undefined
  if (typeof stack !== "string") return ""
  let frames = ""
  for (const line of stack.split("\n", 200)) {
    if (!/^\s+at /.test(line)) continue
    if (runtimeFrame.test(line)) break
    frames += `\n${line}`
  }
  return frames
}

const locationOf = (frame: StackFrame): string => {
  const call = frame.stack()?.split("\n", 1)[0] ?? ""
  const location = /\((.*)\)/.exec(call)?.[1] ?? call.replace(/^at /, "")
  return location === "" ? "" : ` (${location})`
}

/** What an error names as its cause; an `AggregateError` names several. */
const causesOf = (error: unknown): Array<unknown> => {
  if (!LogValue.isError(error)) return []
  const cause = LogValue.read(error, "cause")
  const errors = LogValue.read(error, "errors")
  return [
    ...(cause === undefined ? [] : Cause.isCause(cause) ? [Cause.squash(cause)] : [cause]),
    ...(Array.isArray(errors) ? errors.slice(0, maxChain) : [])
  ]
}
