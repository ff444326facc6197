/** Attributes as OTLP has them: bounded, and with their secrets masked. */
import * as LogValue from "../../Logging/LogValue.ts"
import { isSecretName, redacted } from "../../Logging/SecretNames.ts"
import type { AnyValue, KeyValue } from "./OtlpMessages.ts"
import * as ProtobufWriter from "./ProtobufWriter.ts"

/**
 * Attributes, as many as the budget allows. They get their JSON or their protobuf form only where that is written, which
 * spares most of the objects between a span and its bytes.
 */
export class Attributes {
  readonly entries: Iterable<readonly [string, unknown]>
  readonly budget: LogValue.Budget
  #json: ReadonlyArray<KeyValue> | undefined

  constructor(entries: Iterable<readonly [string, unknown]>, budget: LogValue.Budget = LogValue.budget()) {
    this.entries = entries
    this.budget = budget
  }

  /** The JSON form. What OTLP has no type for becomes text, as it would in a log line. */
  toJSON(): ReadonlyArray<KeyValue> {
    return (this.#json ??= this.#toJson())
  }

  #toJson(): ReadonlyArray<KeyValue> {
    const keyValues: Array<KeyValue> = []
    for (const [name, value] of this.entries) {
      if (value === undefined) continue
      keyValues.push({
        key: LogValue.clip(name, this.budget).toWellFormed(),
        value: isSecretName(name) ? { stringValue: redacted } : anyValue(value, this.budget)
      })
      if (this.budget.left <= 0) break
    }
    return keyValues
  }
}

/** Writes attributes as the messages `KeyValue` of a repeated field. */
export const writeAttributes = (number: number, { budget, entries }: Attributes): void => {
  for (const [name, value] of entries) {
    if (value === undefined) continue
    ProtobufWriter.writeTag(number, 2)
    const start = ProtobufWriter.beginLength()
    ProtobufWriter.writeScalarField(1, "string", LogValue.clip(name, budget))
    ProtobufWriter.writeTag(2, 2)
    const valueStart = ProtobufWriter.beginLength()
    writeValue(isSecretName(name) ? redacted : value, budget)
    ProtobufWriter.endLength(valueStart)
    ProtobufWriter.endLength(start)
    if (budget.left <= 0) break
  }
}

const writeValue = (value: unknown, budget: LogValue.Budget): void => {
  if (typeof value === "string") ProtobufWriter.writeScalarField(1, "string", LogValue.clip(value, budget))
  else if (typeof value === "boolean") ProtobufWriter.writeScalarField(2, "bool", value)
  else if (Number.isSafeInteger(value)) ProtobufWriter.writeScalarField(3, "varint", value)
  else ProtobufWriter.writeMessage(anyValueTable, anyValue(value, budget))
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

/** The table of {@link AnyValue}. A value may hold values. */
export const anyValueTable: Record<string, ProtobufWriter.Field> = {
  stringValue: { number: 1, type: "string" },
  boolValue: { number: 2, type: "bool" },
  intValue: { number: 3, type: "varint" },
  doubleValue: { number: 4, type: "double" }
}
anyValueTable["arrayValue"] = { number: 5, type: { values: { number: 1, type: anyValueTable, list: "each" } } }
