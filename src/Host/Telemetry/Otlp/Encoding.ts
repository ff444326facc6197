/**
 * The two forms of OTLP: protobuf and JSON. Each item of a batch is encoded by itself, so that what waits to be sent is
 * bytes that can be counted; a request is put together of them.
 */
import * as OtlpMessages from "./OtlpMessages.ts"
import * as ProtobufReader from "./ProtobufReader.ts"
import * as ProtobufWriter from "./ProtobufWriter.ts"
import { names, type Signal } from "./Signal.ts"

/** What a collector did not take of a request that it took. */
export interface Rejected {
  readonly count: number
  readonly message: string
}

/** A form of OTLP, for one service. */
export interface Encoding {
  readonly contentType: string
  /** The bytes of one item, to be copied before the next one is encoded. */
  readonly item: <S extends Signal>(signal: S, item: Items[S]) => Uint8Array
  /** A request of items, whose bytes stand one behind the other. */
  readonly request: (signal: Signal, items: Uint8Array) => Uint8Array
  /** What the answer says was not taken; nothing where the answer does not say it, or says nothing that makes sense. */
  readonly rejected: (signal: Signal, answer: Uint8Array) => Rejected | undefined
}

/** What the batches of each signal hold. */
export interface Items {
  readonly traces: OtlpMessages.OtlpSpan
  readonly metrics: OtlpMessages.OtlpMetric
  readonly logs: OtlpMessages.OtlpLogRecord
}

/** What all batches have in common. */
export interface Origin {
  readonly resource: OtlpMessages.Resource
  readonly scope: OtlpMessages.InstrumentationScope
}

/** OTLP in JSON, which has 64-bit integers and numbers that are none as text. */
export const json = (origin: Origin): Encoding => {
  const resource = stringify(origin.resource)
  const scope = stringify(origin.scope)
  return {
    contentType: "application/json",
    // Each with the comma that parts it from the one before.
    item: (_signal, item) => Buffer.from(`,${stringify(item)}`),
    request: (signal, items) => {
      const [resources, scopes, field] = names[signal].fields
      const head = `{"${resources}":[{"resource":${resource},"${scopes}":[{"scope":${scope},"${field}":[`
      return Buffer.concat([Buffer.from(head), items.subarray(1), Buffer.from("]}]}]}")])
    },
    rejected: (signal, answer) => {
      try {
        const { partialSuccess } = JSON.parse(Buffer.from(answer).toString()) as JsonAnswer
        return rejectedOf(Number(partialSuccess?.[names[signal].rejected] ?? 0), partialSuccess?.["errorMessage"])
      } catch {
        return undefined
      }
    }
  }
}

interface JsonAnswer {
  readonly partialSuccess?: Readonly<Record<string, unknown>>
}

/** The second look is costly, and needed only where a number may have become `null`. */
const stringify = (value: object): string => {
  const text = JSON.stringify(value)
  return text.includes("null") ? JSON.stringify(value, nonFiniteAsText) : text
}

const nonFiniteAsText = (_key: string, value: unknown): unknown =>
  typeof value === "number" && !Number.isFinite(value) ? String(value) : value

/** OTLP in protobuf. */
export const protobuf = (origin: Origin): Encoding => {
  const resource = Buffer.from(ProtobufWriter.encodeField(1, OtlpMessages.resource, origin.resource))
  const scope = Buffer.from(ProtobufWriter.encodeField(1, OtlpMessages.instrumentationScope, origin.scope))
  return {
    contentType: "application/x-protobuf",
    item: (signal, item) => ProtobufWriter.encodeField(2, tables[signal], item),
    request: (_signal, items) => {
      const scopeLength = scope.length + items.length
      const scopePrefix = Buffer.from(ProtobufWriter.encodePrefix(2, scopeLength))
      const resourcePrefix = ProtobufWriter.encodePrefix(1, resource.length + scopePrefix.length + scopeLength)
      return Buffer.concat([resourcePrefix, resource, scopePrefix, scope, items])
    },
    rejected: (_signal, answer) => {
      const partialSuccess = ProtobufReader.bytesOf(ProtobufReader.read(answer), 1)
      const fields = ProtobufReader.read(partialSuccess ?? new Uint8Array())
      return rejectedOf(ProtobufReader.integerOf(fields, 1), ProtobufReader.textOf(fields, 2))
    }
  }
}

const tables: { readonly [S in Signal]: ProtobufWriter.Message } = {
  traces: OtlpMessages.span,
  metrics: OtlpMessages.metric,
  logs: OtlpMessages.logRecord
}

const rejectedOf = (count: number, message: unknown): Rejected | undefined =>
  count > 0 ? { count, message: typeof message === "string" ? message : "" } : undefined
