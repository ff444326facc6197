/** Attribute values as OTLP has them: bounded, and with their secrets masked. */
import * as LogValue from "../../Logging/LogValue.ts"
import { isSecretName, redacted } from "../../Logging/SecretNames.ts"
import type { AnyValue, KeyValue } from "./OtlpMessages.ts"

/** An attribute. What OTLP has no type for becomes text, as it would in a log line. */
export const keyValue = (name: string, value: unknown, budget: LogValue.Budget): KeyValue => ({
  key: LogValue.clip(name, budget),
  value: isSecretName(name) ? { stringValue: redacted } : anyValue(value, budget)
})

/** Attributes, as many as the budget allows. */
export const keyValues = (
  entries: Iterable<readonly [string, unknown]>,
  budget: LogValue.Budget = LogValue.budget()
): Array<KeyValue> => {
  const attributes: Array<KeyValue> = []
  for (const [name, value] of entries) {
    if (value === undefined) continue
    attributes.push(keyValue(name, value, budget))
    if (budget.left <= 0) break
  }
  return attributes
}

const anyValue = (value: unknown, budget: LogValue.Budget): AnyValue => {
  switch (typeof value) {
    case "string":
      return { stringValue: LogValue.clip(value, budget).toWellFormed() }
    case "boolean":
      return { boolValue: value }
    case "number":
      return Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: value }
    case "bigint":
      return BigInt.asIntN(64, value) === value ? { intValue: String(value) } : { stringValue: String(value) }
    default:
      return isPlainList(value)
        ? { arrayValue: { values: value.map((element) => anyValue(element, budget)) } }
        : { stringValue: LogValue.toText(value, budget).toWellFormed() }
  }
}

const isPlainList = (value: unknown): value is ReadonlyArray<string | number | boolean> =>
  Array.isArray(value) &&
  value.length <= 128 &&
  value.every((element) => ["string", "number", "boolean"].includes(typeof element))
