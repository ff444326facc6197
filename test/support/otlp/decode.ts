/**
 * Decodes OTLP requests from protobuf into their JSON form, by the field numbers of the published definitions
 * (https://github.com/open-telemetry/opentelemetry-proto). Strict: a field that the tables do not know, or a wire type that
 * is not the field's, is an error.
 */

type Type = "string" | "bytes" | "bool" | "int64" | "uint32" | "enum" | "fixed64" | "sfixed64" | "fixed32" | "double"
type Field = readonly [name: string, type: Type | (() => Message), list?: "repeated"]
interface Message {
  readonly [number: number]: Field
}

const AnyValue: Message = {
  1: ["stringValue", "string"],
  2: ["boolValue", "bool"],
  3: ["intValue", "int64"],
  4: ["doubleValue", "double"],
  5: ["arrayValue", () => ({ 1: ["values", () => AnyValue, "repeated"] })],
  6: ["kvlistValue", () => ({ 1: ["values", () => KeyValue, "repeated"] })],
  7: ["bytesValue", "bytes"]
}
const KeyValue: Message = { 1: ["key", "string"], 2: ["value", () => AnyValue] }
const Resource: Message = { 1: ["attributes", () => KeyValue, "repeated"], 2: ["droppedAttributesCount", "uint32"] }
const InstrumentationScope: Message = {
  1: ["name", "string"],
  2: ["version", "string"],
  3: ["attributes", () => KeyValue, "repeated"],
  4: ["droppedAttributesCount", "uint32"]
}
const Span: Message = {
  1: ["traceId", "bytes"],
  2: ["spanId", "bytes"],
  3: ["traceState", "string"],
  4: ["parentSpanId", "bytes"],
  5: ["name", "string"],
  6: ["kind", "enum"],
  7: ["startTimeUnixNano", "fixed64"],
  8: ["endTimeUnixNano", "fixed64"],
  9: ["attributes", () => KeyValue, "repeated"],
  10: ["droppedAttributesCount", "uint32"],
  11: ["events", () => Event, "repeated"],
  12: ["droppedEventsCount", "uint32"],
  13: ["links", () => Link, "repeated"],
  14: ["droppedLinksCount", "uint32"],
  15: ["status", () => ({ 2: ["message", "string"], 3: ["code", "enum"] })],
  16: ["flags", "fixed32"]
}
const Event: Message = {
  1: ["timeUnixNano", "fixed64"],
  2: ["name", "string"],
  3: ["attributes", () => KeyValue, "repeated"],
  4: ["droppedAttributesCount", "uint32"]
}
const Link: Message = {
  1: ["traceId", "bytes"],
  2: ["spanId", "bytes"],
  3: ["traceState", "string"],
  4: ["attributes", () => KeyValue, "repeated"],
  5: ["droppedAttributesCount", "uint32"],
  6: ["flags", "fixed32"]
}
const NumberDataPoint: Message = {
  2: ["startTimeUnixNano", "fixed64"],
  3: ["timeUnixNano", "fixed64"],
  4: ["asDouble", "double"],
  6: ["asInt", "sfixed64"],
  7: ["attributes", () => KeyValue, "repeated"],
  8: ["flags", "uint32"]
}
const HistogramDataPoint: Message = {
  2: ["startTimeUnixNano", "fixed64"],
  3: ["timeUnixNano", "fixed64"],
  4: ["count", "fixed64"],
  5: ["sum", "double"],
  6: ["bucketCounts", "fixed64", "repeated"],
  7: ["explicitBounds", "double", "repeated"],
  9: ["attributes", () => KeyValue, "repeated"],
  10: ["flags", "uint32"],
  11: ["min", "double"],
  12: ["max", "double"]
}
const SummaryDataPoint: Message = {
  2: ["startTimeUnixNano", "fixed64"],
  3: ["timeUnixNano", "fixed64"],
  4: ["count", "fixed64"],
  5: ["sum", "double"],
  6: ["quantileValues", () => ({ 1: ["quantile", "double"], 2: ["value", "double"] }), "repeated"],
  7: ["attributes", () => KeyValue, "repeated"],
  8: ["flags", "uint32"]
}
const Metric: Message = {
  1: ["name", "string"],
  2: ["description", "string"],
  3: ["unit", "string"],
  5: ["gauge", () => ({ 1: ["dataPoints", () => NumberDataPoint, "repeated"] })],
  7: [
    "sum",
    () => ({
      1: ["dataPoints", () => NumberDataPoint, "repeated"],
      2: ["aggregationTemporality", "enum"],
      3: ["isMonotonic", "bool"]
    })
  ],
  9: [
    "histogram",
    () => ({ 1: ["dataPoints", () => HistogramDataPoint, "repeated"], 2: ["aggregationTemporality", "enum"] })
  ],
  11: ["summary", () => ({ 1: ["dataPoints", () => SummaryDataPoint, "repeated"] })]
}
const LogRecord: Message = {
  1: ["timeUnixNano", "fixed64"],
  2: ["severityNumber", "enum"],
  3: ["severityText", "string"],
  5: ["body", () => AnyValue],
  6: ["attributes", () => KeyValue, "repeated"],
  7: ["droppedAttributesCount", "uint32"],
  8: ["flags", "fixed32"],
  9: ["traceId", "bytes"],
  10: ["spanId", "bytes"],
  11: ["observedTimeUnixNano", "fixed64"],
  12: ["eventName", "string"]
}

const request = (resources: string, scopes: string, items: string, item: Message): Message => ({
  1: [
    resources,
    () => ({
      1: ["resource", () => Resource],
      2: [
        scopes,
        () => ({
          1: ["scope", () => InstrumentationScope],
          2: [items, () => item, "repeated"],
          3: ["schemaUrl", "string"]
        }),
        "repeated"
      ],
      3: ["schemaUrl", "string"]
    }),
    "repeated"
  ]
})

const requests = {
  traces: request("resourceSpans", "scopeSpans", "spans", Span),
  metrics: request("resourceMetrics", "scopeMetrics", "metrics", Metric),
  logs: request("resourceLogs", "scopeLogs", "logRecords", LogRecord)
}

/** The JSON form of an export request. */
export const decodeRequest = (signal: "traces" | "metrics" | "logs", bytes: Buffer): unknown =>
  decode(requests[signal], bytes)

const decode = (message: Message, bytes: Buffer): Record<string, unknown> => {
  const reader = new Reader(bytes)
  const result: Record<string, unknown> = {}
  while (!reader.isAtEnd) {
    const tag = Number(reader.varint())
    const field = message[tag >> 3]
    if (field === undefined) throw new Error(`Unknown field ${tag >> 3}`)
    const [name, type, list] = field
    const values = readField(reader, type, tag & 7, list === "repeated", name)
    if (list === "repeated") ((result[name] ??= []) as Array<unknown>).push(...values)
    else result[name] = values[0]
  }
  return result
}

const wireTypes: Readonly<Record<Type, number>> = {
  string: 2,
  bytes: 2,
  bool: 0,
  int64: 0,
  uint32: 0,
  enum: 0,
  fixed64: 1,
  sfixed64: 1,
  fixed32: 5,
  double: 1
}

const readField = (
  reader: Reader,
  type: Type | (() => Message),
  wireType: number,
  isList: boolean,
  name: string
): Array<unknown> => {
  if (typeof type === "function") {
    if (wireType !== 2) throw new Error(`${name}: wire type ${wireType}`)
    return [decode(type(), reader.part())]
  }
  const expected = wireTypes[type]
  if (wireType === expected) return [readScalar(reader, type)]
  // Lists of numbers stand together behind one tag.
  if (!isList || wireType !== 2) throw new Error(`${name}: wire type ${wireType}`)
  const packed = new Reader(reader.part())
  const values: Array<unknown> = []
  while (!packed.isAtEnd) values.push(readScalar(packed, type))
  return values
}

const readScalar = (reader: Reader, type: Type): unknown => {
  switch (type) {
    case "string":
      return new TextDecoder("utf-8", { fatal: true }).decode(reader.part())
    case "bytes":
      return reader.part().toString("hex")
    case "bool":
      return reader.varint() !== 0n
    case "int64":
      return String(BigInt.asIntN(64, reader.varint()))
    case "uint32":
    case "enum":
      return Number(reader.varint())
    case "fixed64":
      return String(reader.take(8).readBigUInt64LE())
    case "sfixed64":
      return String(reader.take(8).readBigInt64LE())
    case "fixed32":
      return reader.take(4).readUInt32LE()
    case "double":
      return reader.take(8).readDoubleLE()
  }
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new Error("The message is cut off")
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  varint(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.take(1)[0]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }

  part(): Buffer {
    return this.take(Number(this.varint()))
  }
}
