/**
 * Values in log lines: any value at all as bounded JSON text, its secrets masked.
 *
 * Nothing here throws, whatever the value does: it may refer to itself, have getters that throw, be a Proxy, or be huge.
 */
import * as Cause from "effect/Cause"
import * as Redactable from "effect/Redactable"
import * as Redacted from "effect/Redacted"
import { quote } from "./Escape.ts"
import { isSecretName, maskUrl, redacted } from "./SecretNames.ts"

/** A longer string is cut, and says by how much. */
export const maxStringLength = 16_384

/** Deeper parts of a value are left out. */
const maxDepth = 8

/** What stands for a value, or for the rest of one, that is over the bounds. */
const ellipsis = "…"

/**
 * What one line may still write, in characters. A value that exceeds it is cut off, so that no single line grows past
 * some {@link maxLineLength} characters.
 */
export interface Budget {
  left: number
}

/** The characters of values in one line. */
export const maxLineLength = 65_536

/** The budget of one line. */
export const budget = (): Budget => ({ left: maxLineLength })

/** Cuts a string to what the bounds allow. */
export const clip = (text: string, budget: Budget): string => {
  const max = Math.max(0, Math.min(maxStringLength, budget.left))
  budget.left -= Math.min(text.length, max)
  return text.length <= max ? text : `${text.slice(0, max)}${ellipsis}[+${text.length - max} characters]`
}

/** A value as text: what has a word of its own in JSON without the quotes, any other as JSON. */
export const toText = (value: unknown, budget: Budget): string => {
  if (typeof value === "string") return clip(value, budget)
  if (value === undefined) return "undefined"
  const json = toJson(value, budget)
  return json.startsWith('"') ? (JSON.parse(json) as string) : json
}

/** Any value as JSON text. What JSON cannot say becomes a string that says it. */
export const toJson = (value: unknown, budget: Budget): string =>
  typeof value === "string" ? quote(clip(value, budget)) : write(value, { budget, ancestors: [] })

interface Context {
  readonly budget: Budget
  /** The objects around the one that is being written. */
  readonly ancestors: Array<object>
}

const write = (value: unknown, context: Context): string => {
  switch (typeof value) {
    case "string":
      return quote(clip(value, context.budget))
    case "number":
      return Number.isFinite(value) ? String(value) : `"${value}"`
    case "boolean":
      return String(value)
    case "bigint":
    case "symbol":
      return quote(clip(String(value), context.budget))
    default: {
      if (value === null || value === undefined) return "null"
      if (context.budget.left <= 0) return `"${ellipsis}"`
      if (context.ancestors.includes(value)) return `"[circular]"`
      if (context.ancestors.length >= maxDepth) return `"${ellipsis}"`
      const depth = context.ancestors.push(value)
      try {
        return writeObject(value, context)
      } catch {
        return `"[unreadable]"`
      } finally {
        context.ancestors.length = depth - 1
      }
    }
  }
}

const writeObject = (value: object, context: Context): string => {
  if (Redacted.isRedacted(value)) return `"${redacted}"`
  if (Redactable.isRedactable(value)) return write(Redactable.getRedacted(value), context)
  if (typeof value === "function") return write(`[function ${value.name || "anonymous"}]`, context)
  if (Array.isArray(value)) return writeArray(value, context)
  if (value instanceof Error) return write(`${value.name}: ${value.message}`, context)
  if (Cause.isCause(value)) return write(Cause.squash(value), context)
  if (value instanceof URL) return write(maskUrl(value), context)
  if (value instanceof Date) return write(Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString(), context)
  if (value instanceof RegExp) return write(String(value), context)
  // Bytes are never shown: they may be a key.
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return write(`[${value.byteLength} bytes]`, context)
  if (value instanceof Map) return writeEntries(value, context)
  if (value instanceof Set) return writeArray(value, context)
  if ("toJSON" in value && typeof value.toJSON === "function") return write(value.toJSON(), context)
  const keys = Object.keys(value)
  const constructor = value.constructor
  if (keys.length === 0 && typeof constructor === "function" && constructor !== Object) {
    return write(`[${constructor.name}]`, context)
  }
  return writeEntries(readEach(value, keys), context)
}

const writeArray = (values: Iterable<unknown>, context: Context): string => {
  let text = ""
  for (const value of values) {
    const item = write(value, context)
    text += text === "" ? item : `,${item}`
    if (isSpent(context)) break
  }
  return `[${text}]`
}

const writeEntries = (entries: Iterable<readonly [unknown, unknown]>, context: Context): string => {
  let text = ""
  for (const [key, value] of entries) {
    if (value === undefined) continue
    const name = toText(key, context.budget)
    const member = `${quote(name)}:${isSecretName(name) ? `"${redacted}"` : write(value, context)}`
    text += text === "" ? member : `,${member}`
    if (isSpent(context)) break
  }
  return `{${text}}`
}

/** Counts one more part, so that many small ones end as one big one does. */
const isSpent = (context: Context): boolean => (context.budget.left -= 4) <= 0

/** The value of a property, or a word for a getter that throws. */
export const read = (value: object, key: string): unknown => {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return "[unreadable]"
  }
}

/** The names of an object's own properties; none where even asking for them throws. */
export const keysOf = (value: object): ReadonlyArray<string> => {
  try {
    return Object.keys(value)
  } catch {
    return []
  }
}

/** Whether the value is an error; a Proxy that throws is none. */
export const isError = (value: unknown): value is Error => {
  try {
    return value instanceof Error
  } catch {
    return false
  }
}

function* readEach(value: object, keys: ReadonlyArray<string>): Iterable<readonly [string, unknown]> {
  for (const key of keys) yield [key, read(value, key)]
}
