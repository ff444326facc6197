/**
 * The messages of OTLP (https://github.com/open-telemetry/opentelemetry-proto), as far as the host sends them: as types of
 * their JSON form, and as the tables of their protobuf form.
 */
import { anyValueTable, type Attributes, writeAttributes } from "./OtlpValue.ts"
import type { Message } from "./ProtobufWriter.ts"
import * as ProtobufWriter from "./ProtobufWriter.ts"

/** A 64-bit integer: JSON has it as text where a number cannot hold it. */
export type Int64 = string | number

/** The value of an attribute, or the body of a log record. */
export type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: Int64 }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: ReadonlyArray<AnyValue> } }

/** An attribute. */
export interface KeyValue {
  readonly key: string
  readonly value: AnyValue
}

/** What a batch comes from. */
export interface Resource {
  readonly attributes: Attributes
}

/** What recorded the items of a batch. */
export interface InstrumentationScope {
  readonly name: string
  readonly version?: string
}

/** Nanoseconds since the epoch, which JSON has as text. */
export class Nanos {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }

  toJSON(): string {
    return String(this.value)
  }
}

const writeNanos = (number: number, { value }: Nanos): void => ProtobufWriter.writeScalarField(number, "fixed64", value)

/** A span. */
export interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  readonly traceState: string | undefined
  readonly parentSpanId: string | undefined
  readonly flags: number
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: Nanos
  readonly endTimeUnixNano: Nanos
  readonly attributes: Attributes
  readonly droppedAttributesCount: number | undefined
  readonly events: ReadonlyArray<OtlpEvent> | undefined
  readonly droppedEventsCount: number | undefined
  readonly links: ReadonlyArray<OtlpLink> | undefined
  readonly droppedLinksCount: number | undefined
  readonly status: { readonly code: number; readonly message: string | undefined } | undefined
}

/** Something that happened during a span. */
export interface OtlpEvent {
  readonly timeUnixNano: Nanos
  readonly name: string
  readonly attributes: Attributes
}

/** Another span that a span has to do with. */
export interface OtlpLink {
  readonly traceId: string
  readonly spanId: string
  readonly attributes: Attributes
}

/** A log line. */
export interface OtlpLogRecord {
  readonly timeUnixNano: Nanos
  readonly observedTimeUnixNano: Nanos
  readonly severityNumber: number
  readonly severityText: string
  readonly body: AnyValue
  readonly attributes: Attributes
  readonly traceId?: string
  readonly spanId?: string
}

/** A metric with all its series, in one of the four forms. */
export interface OtlpMetric {
  readonly name: string
  readonly description: string | undefined
  readonly unit: string | undefined
  readonly gauge?: { readonly dataPoints: Array<NumberDataPoint> }
  readonly sum?: {
    readonly dataPoints: Array<NumberDataPoint>
    readonly aggregationTemporality: number
    readonly isMonotonic: boolean
  }
  readonly histogram?: { readonly dataPoints: Array<HistogramDataPoint>; readonly aggregationTemporality: number }
  readonly summary?: { readonly dataPoints: Array<SummaryDataPoint> }
}

interface DataPoint {
  readonly attributes: Attributes
  readonly startTimeUnixNano: Nanos
  readonly timeUnixNano: Nanos
}

/** The value of one series. */
export interface NumberDataPoint extends DataPoint {
  readonly asDouble?: number
  readonly asInt?: Int64
}

/** The distribution of one series. */
export interface HistogramDataPoint extends DataPoint {
  readonly count: Int64
  readonly sum: number
  readonly bucketCounts: ReadonlyArray<Int64>
  readonly explicitBounds: ReadonlyArray<number>
  readonly min: number | undefined
  readonly max: number | undefined
}

/** The quantiles of one series. */
export interface SummaryDataPoint extends DataPoint {
  readonly count: Int64
  readonly sum: number
  readonly quantileValues: ReadonlyArray<{ readonly quantile: number; readonly value: number }>
}

// The tables.

const attributes = (number: number): Message => ({ attributes: { number, type: writeAttributes } })

/** The table of {@link Resource}. */
export const resource: Message = attributes(1)

/** The table of {@link InstrumentationScope}. */
export const instrumentationScope: Message = {
  name: { number: 1, type: "string" },
  version: { number: 2, type: "string" }
}

/** The table of {@link OtlpSpan}. */
export const span: Message = {
  traceId: { number: 1, type: "hex" },
  spanId: { number: 2, type: "hex" },
  traceState: { number: 3, type: "string" },
  parentSpanId: { number: 4, type: "hex" },
  name: { number: 5, type: "string" },
  kind: { number: 6, type: "varint" },
  startTimeUnixNano: { number: 7, type: writeNanos },
  endTimeUnixNano: { number: 8, type: writeNanos },
  ...attributes(9),
  droppedAttributesCount: { number: 10, type: "varint" },
  events: {
    number: 11,
    type: { timeUnixNano: { number: 1, type: writeNanos }, name: { number: 2, type: "string" }, ...attributes(3) },
    list: "each"
  },
  droppedEventsCount: { number: 12, type: "varint" },
  links: {
    number: 13,
    type: { traceId: { number: 1, type: "hex" }, spanId: { number: 2, type: "hex" }, ...attributes(4) },
    list: "each"
  },
  droppedLinksCount: { number: 14, type: "varint" },
  status: { number: 15, type: { message: { number: 2, type: "string" }, code: { number: 3, type: "varint" } } },
  flags: { number: 16, type: "fixed32" }
}

/** The table of {@link OtlpLogRecord}. */
export const logRecord: Message = {
  timeUnixNano: { number: 1, type: writeNanos },
  severityNumber: { number: 2, type: "varint" },
  severityText: { number: 3, type: "string" },
  body: { number: 5, type: anyValueTable },
  ...attributes(6),
  traceId: { number: 9, type: "hex" },
  spanId: { number: 10, type: "hex" },
  observedTimeUnixNano: { number: 11, type: writeNanos }
}

const times: Message = {
  startTimeUnixNano: { number: 2, type: writeNanos },
  timeUnixNano: { number: 3, type: writeNanos }
}

const numberDataPoint: Message = {
  ...times,
  asDouble: { number: 4, type: "double" },
  asInt: { number: 6, type: "fixed64" },
  ...attributes(7)
}

const histogramDataPoint: Message = {
  ...times,
  count: { number: 4, type: "fixed64" },
  sum: { number: 5, type: "double" },
  bucketCounts: { number: 6, type: "fixed64", list: "packed" },
  explicitBounds: { number: 7, type: "double", list: "packed" },
  ...attributes(9),
  min: { number: 11, type: "double" },
  max: { number: 12, type: "double" }
}

const summaryDataPoint: Message = {
  ...times,
  count: { number: 4, type: "fixed64" },
  sum: { number: 5, type: "double" },
  quantileValues: {
    number: 6,
    type: { quantile: { number: 1, type: "double" }, value: { number: 2, type: "double" } },
    list: "each"
  },
  ...attributes(7)
}

const dataPoints = (type: Message): Message => ({ dataPoints: { number: 1, type, list: "each" } })
const aggregationTemporality = { aggregationTemporality: { number: 2, type: "varint" } } as const

/** The table of {@link OtlpMetric}. */
export const metric: Message = {
  name: { number: 1, type: "string" },
  description: { number: 2, type: "string" },
  unit: { number: 3, type: "string" },
  gauge: { number: 5, type: dataPoints(numberDataPoint) },
  sum: {
    number: 7,
    type: { ...dataPoints(numberDataPoint), ...aggregationTemporality, isMonotonic: { number: 3, type: "bool" } }
  },
  histogram: { number: 9, type: { ...dataPoints(histogramDataPoint), ...aggregationTemporality } },
  summary: { number: 11, type: dataPoints(summaryDataPoint) }
}
