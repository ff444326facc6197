import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as OtlpSerialization from "effect/observability/OtlpSerialization"
import * as Schema from "effect/Schema"
import * as Encoding from "../../../src/Host/Telemetry/Otlp/Encoding.ts"
import { Nanos, type OtlpSpan } from "../../../src/Host/Telemetry/Otlp/OtlpMessages.ts"
import { Attributes } from "../../../src/Host/Telemetry/Otlp/OtlpValue.ts"
import * as ProtobufReader from "../../../src/Host/Telemetry/Otlp/ProtobufReader.ts"
import { decodeRequest } from "../../support/otlp/decode.ts"

const origin: Encoding.Origin = {
  resource: { attributes: new Attributes([["service.name", "shop"]]) },
  scope: { name: "layerhost", version: "1" }
}

const value = Schema.Union([
  Schema.String,
  Schema.Number,
  Schema.Int,
  Schema.BigInt,
  Schema.Boolean,
  Schema.Array(Schema.Union([Schema.String, Schema.Int])),
  Schema.Null
])
const attributes = Schema.Array(Schema.Tuple([Schema.String, value]))
const digits = (count: number) => Schema.String.check(Schema.isPattern(new RegExp(`^[0-9a-f]{${count}}$`)))
const time = Schema.String.check(Schema.isPattern(/^[1-9]\d{0,18}$/))
const SpanInput = Schema.Struct({
  traceId: digits(32),
  spanId: digits(16),
  parentSpanId: Schema.UndefinedOr(digits(16)),
  name: Schema.String,
  kind: Schema.Literals([1, 2, 3, 4, 5]),
  startTimeUnixNano: time,
  endTimeUnixNano: time,
  attributes,
  events: Schema.Array(Schema.Struct({ timeUnixNano: time, name: Schema.String, attributes })),
  links: Schema.Array(Schema.Struct({ traceId: digits(32), spanId: digits(16), attributes })),
  code: Schema.Literals([1, 2]),
  message: Schema.String
})

const toSpan = ({ code, message, ...input }: typeof SpanInput.Type): OtlpSpan => ({
  ...input,
  name: input.name.toWellFormed(),
  startTimeUnixNano: new Nanos(BigInt(input.startTimeUnixNano)),
  endTimeUnixNano: new Nanos(BigInt(input.endTimeUnixNano)),
  traceState: undefined,
  flags: 257,
  attributes: new Attributes(input.attributes),
  events: input.events.map((event) => ({
    timeUnixNano: new Nanos(BigInt(event.timeUnixNano)),
    name: event.name.toWellFormed(),
    attributes: new Attributes(event.attributes)
  })),
  links: input.links.map((link) => ({ ...link, attributes: new Attributes(link.attributes) })),
  droppedAttributesCount: undefined,
  droppedEventsCount: undefined,
  droppedLinksCount: undefined,
  // An empty text is left out by one and written by the other, which means the same.
  status: { code, message: message.toWellFormed() || undefined }
})

describe("The protobuf form", () => {
  it.effect.prop(
    "of any spans is what Effect's own encoder makes of them",
    { inputs: Arbitrary.array(Arbitrary.schema(SpanInput), { maxLength: 5 }) },
    ({ inputs }) =>
      Effect.gen(function* () {
        const spans = inputs.map(toSpan)
        const encoding = Encoding.protobuf(origin)
        const own = encoding.request(
          "traces",
          Buffer.concat(spans.map((span) => Buffer.from(encoding.item("traces", span))))
        )

        const serialization = yield* OtlpSerialization.OtlpSerialization
        const plain = <A extends { readonly attributes: Attributes }>(each: A) => ({
          ...each,
          attributes: each.attributes.toJSON(),
          droppedAttributesCount: 0
        })
        // Attributes share what they may take up, which is used up by then.
        const complete = inputs.map(toSpan).map((span) => ({
          ...plain(span),
          startTimeUnixNano: span.startTimeUnixNano.toJSON(),
          endTimeUnixNano: span.endTimeUnixNano.toJSON(),
          droppedEventsCount: 0,
          droppedLinksCount: 0,
          links: span.links!.map(plain),
          events: span.events!.map((event) => ({ ...plain(event), timeUnixNano: event.timeUnixNano.toJSON() }))
        }))
        const body = serialization.traces({
          resourceSpans: [
            {
              resource: plain(origin.resource),
              scopeSpans: [{ scope: origin.scope, spans: complete }]
            }
          ]
        } as unknown as Parameters<typeof serialization.traces>[0])
        const theirs = body._tag === "Uint8Array" ? body.body : new Uint8Array()
        expect(decodeRequest("traces", Buffer.from(own))).toEqual(decodeRequest("traces", Buffer.from(theirs)))
      }).pipe(Effect.provide(OtlpSerialization.layerProtobuf)),
    { arbitrary: { runs: 100 } }
  )

  it("keeps lengths right where they need more than one byte", () => {
    const encoding = Encoding.protobuf(origin)
    for (const length of [0, 1, 100, 120, 127, 128, 129, 16_383, 16_384, 20_000, 70_000]) {
      const message = "é".repeat(length)
      const item = encoding.item("logs", {
        timeUnixNano: new Nanos(1n),
        observedTimeUnixNano: new Nanos(1n),
        severityNumber: 9,
        severityText: "",
        body: { stringValue: message },
        attributes: new Attributes([])
      })
      const decoded: any = decodeRequest("logs", Buffer.from(encoding.request("logs", Buffer.from(item))))
      expect(decoded.resourceLogs[0].scopeLogs[0].logRecords[0].body.stringValue).toBe(message)
    }
  })
})

describe("What a collector says that it rejected", () => {
  const protobuf = Encoding.protobuf(origin)
  const json = Encoding.json(origin)

  it("is read from either form", () => {
    const answer = Buffer.from([0x0a, 7, 0x08, 0xac, 0x02, 0x12, 2, 0x6e, 0x6f])
    expect(protobuf.rejected("traces", answer)).toEqual({ count: 300, message: "no" })
    const text = '{"partialSuccess":{"rejectedSpans":"300","errorMessage":"no"}}'
    expect(json.rejected("traces", Buffer.from(text))).toEqual({ count: 300, message: "no" })
  })

  it.prop("is nothing where the answer makes no sense, and never throws", { text: Schema.String }, ({ text }) => {
    for (const answer of ["", "{}", '{"partialSuccess":{}}', '{"partialSuccess":null}', "null", text]) {
      expect(json.rejected("logs", Buffer.from(answer))).toBeUndefined()
    }
    expect(protobuf.rejected("logs", Buffer.alloc(0))).toBeUndefined()
    // Whatever the bytes are, something comes back.
    expect(Array.isArray(ProtobufReader.read(Buffer.from(text)))).toBe(true)
    protobuf.rejected("logs", Buffer.from(text))
  })
})
