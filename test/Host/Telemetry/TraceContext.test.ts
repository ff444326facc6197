import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import { extract, type Headers, inject, none, type TraceContext } from "../../../src/Host/Telemetry/TraceContext.ts"

const trace128 = "80f198ee56343ba864fe8b2a57d3eff7"
const trace64 = "e457b5a2e4d86bd1"
const padded = `0000000000000000${trace64}`
const span = "05e3ac9a4f6e3b90"
const parent = "e457b5a2e4d86bd1"

const ids = { traceId: trace128, spanId: span }
const sampled = { sampled: true, debug: false }
const denied = { sampled: false, debug: false }
const debug = { sampled: true, debug: true }
const nothing = {}

describe("extract", () => {
  const vectors: ReadonlyArray<readonly [name: string, headers: Headers, expected: Partial<TraceContext>]> = [
    ["no headers", {}, nothing],
    // B3, single header.
    ["b3: ids, sampled", { b3: `${trace128}-${span}-1` }, { ...ids, ...sampled }],
    ["b3: ids, sampled, parent", { b3: `${trace128}-${span}-1-${parent}` }, { ...ids, ...sampled }],
    ["b3: ids, not sampled", { b3: `${trace128}-${span}-0` }, { ...ids, ...denied }],
    ["b3: ids, not sampled, parent", { b3: `${trace128}-${span}-0-${parent}` }, { ...ids, ...denied }],
    ["b3: ids, debug", { b3: `${trace128}-${span}-d` }, { ...ids, ...debug }],
    ["b3: ids, debug, parent", { b3: `${trace128}-${span}-d-${parent}` }, { ...ids, ...debug }],
    ["b3: ids, true", { b3: `${trace128}-${span}-true` }, { ...ids, ...sampled }],
    ["b3: ids, false", { b3: `${trace128}-${span}-false` }, { ...ids, ...denied }],
    ["b3: ids alone leave the decision open", { b3: `${trace128}-${span}` }, ids],
    ["b3: 64-bit trace id", { b3: `${trace64}-${span}-1` }, { traceId: padded, spanId: span, ...sampled }],
    ["b3: deny", { b3: "0" }, denied],
    ["b3: accept", { b3: "1" }, sampled],
    ["b3: debug", { b3: "d" }, debug],
    ["b3: upper case", { b3: `${trace128.toUpperCase()}-${span.toUpperCase()}-1` }, { ...ids, ...sampled }],
    // B3, single header, malformed.
    ["b3: empty", { b3: "" }, nothing],
    ["b3: trace id alone", { b3: trace128 }, nothing],
    ["b3: trace id too short", { b3: `${trace64.slice(1)}-${span}-1` }, nothing],
    ["b3: trace id of 24 digits", { b3: `${trace128.slice(8)}-${span}-1` }, nothing],
    ["b3: trace id of zeros", { b3: `${"0".repeat(32)}-${span}-1` }, nothing],
    ["b3: span id of zeros", { b3: `${trace128}-${"0".repeat(16)}-1` }, nothing],
    ["b3: not hexadecimal", { b3: `${"g".repeat(32)}-${span}-1` }, nothing],
    ["b3: unknown decision", { b3: `${trace128}-${span}-2` }, nothing],
    ["b3: decision missing before the parent", { b3: `${trace128}-${span}--${parent}` }, nothing],
    ["b3: parent too short", { b3: `${trace128}-${span}-1-${parent.slice(1)}` }, nothing],
    ["b3: too many parts", { b3: `${trace128}-${span}-1-${parent}-1` }, nothing],
    ["b3: a line break behind", { b3: `${trace128}-${span}-1\n` }, nothing],
    ["b3: malformed, but x-b3-* is well", { b3: "x", ...multi({ sampled: "1" }) }, { ...ids, ...sampled }],
    ["b3 wins over x-b3-*", { b3: "0", ...multi({ sampled: "1" }) }, denied],
    // B3, multiple headers.
    ["x-b3: sampled 1", multi({ sampled: "1" }), { ...ids, ...sampled }],
    ["x-b3: sampled true", multi({ sampled: "true" }), { ...ids, ...sampled }],
    ["x-b3: sampled True", multi({ sampled: "True" }), { ...ids, ...sampled }],
    ["x-b3: sampled 0", multi({ sampled: "0" }), { ...ids, ...denied }],
    ["x-b3: sampled false", multi({ sampled: "false" }), { ...ids, ...denied }],
    ["x-b3: sampled d", multi({ sampled: "d" }), { ...ids, ...debug }],
    ["x-b3: no decision", multi({}), ids],
    ["x-b3: unknown decision is none", multi({ sampled: "maybe" }), ids],
    ["x-b3: flags 1", multi({ flags: "1" }), { ...ids, ...debug }],
    ["x-b3: flags 1 wins over sampled 0", multi({ flags: "1", sampled: "0" }), { ...ids, ...debug }],
    ["x-b3: flags 0 says nothing", multi({ flags: "0", sampled: "0" }), { ...ids, ...denied }],
    ["x-b3: 64-bit trace id", multi({ traceId: trace64 }), { traceId: padded, spanId: span }],
    ["x-b3: deny without ids", { "x-b3-sampled": "0" }, denied],
    ["x-b3: accept without ids", { "x-b3-sampled": "1" }, sampled],
    ["x-b3: debug without ids", { "x-b3-flags": "1" }, debug],
    // B3, multiple headers, malformed.
    ["x-b3: trace id alone", { "x-b3-traceid": trace128, "x-b3-sampled": "1" }, nothing],
    ["x-b3: span id alone", { "x-b3-spanid": span, "x-b3-sampled": "1" }, nothing],
    ["x-b3: trace id not hexadecimal", multi({ traceId: "z".repeat(32), sampled: "1" }), nothing],
    ["x-b3: trace id of zeros", multi({ traceId: "0".repeat(16), sampled: "1" }), nothing],
    ["x-b3: trace id empty", multi({ traceId: "", sampled: "1" }), nothing],
    // W3C.
    ["traceparent: sampled", { traceparent: `00-${trace128}-${span}-01` }, { ...ids, ...sampled }],
    ["traceparent: not sampled", { traceparent: `00-${trace128}-${span}-00` }, { ...ids, ...denied }],
    ["traceparent: other flags", { traceparent: `00-${trace128}-${span}-03` }, { ...ids, ...sampled }],
    ["traceparent: a later version", { traceparent: `cc-${trace128}-${span}-01` }, { ...ids, ...sampled }],
    ["traceparent: a later version with more", { traceparent: `cc-${trace128}-${span}-01-x` }, { ...ids, ...sampled }],
    [
      "tracestate",
      { traceparent: `00-${trace128}-${span}-01`, tracestate: "a=1,b=2" },
      { ...ids, ...sampled, traceState: "a=1,b=2" }
    ],
    [
      "tracestate of more than 512 characters",
      { traceparent: `00-${trace128}-${span}-01`, tracestate: `a=${"x".repeat(511)}` },
      { ...ids, ...sampled }
    ],
    ["tracestate without traceparent", { tracestate: "a=1" }, nothing],
    ["traceparent wins over b3", { traceparent: `00-${trace128}-${span}-01`, b3: "0" }, { ...ids, ...sampled }],
    ["traceparent: malformed, but b3 is well", { traceparent: "x", b3: "0" }, denied],
    ["traceparent: version ff", { traceparent: `ff-${trace128}-${span}-01` }, nothing],
    ["traceparent: version 00 with more", { traceparent: `00-${trace128}-${span}-01-x` }, nothing],
    ["traceparent: upper case", { traceparent: `00-${trace128.toUpperCase()}-${span}-01` }, nothing],
    ["traceparent: trace id of zeros", { traceparent: `00-${"0".repeat(32)}-${span}-01` }, nothing],
    ["traceparent: span id of zeros", { traceparent: `00-${trace128}-${"0".repeat(16)}-01` }, nothing],
    ["traceparent: 64-bit trace id", { traceparent: `00-${trace64}-${span}-01` }, nothing]
  ]

  it.each(vectors)("%s", (_name, headers, expected) => {
    expect(extract(headers)).toEqual({ ...none, ...expected })
  })

  const text = Arbitrary.schema(
    Schema.Union([
      Schema.String,
      Schema.String.check(Schema.isPattern(/^[0-9a-f]{15,17}-[0-9a-f]{15,17}-[01d2]$/)),
      Schema.String.check(Schema.isPattern(/^[0-9a-f]{31,33}$/)),
      Schema.String.check(Schema.isPattern(/^0[0-1]-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/))
    ])
  )

  it.prop(
    "never throws, and never gives half an identity",
    { traceparent: text, tracestate: text, b3: text, traceId: text, spanId: text, flags: text },
    ({ flags, spanId, traceId, ...headers }) => {
      const context = extract({ ...headers, "x-b3-traceid": traceId, "x-b3-spanid": spanId, "x-b3-flags": flags })
      expect(context.traceId === undefined).toBe(context.spanId === undefined)
      expect(context.traceId ?? trace128).toMatch(/^[0-9a-f]{32}$/)
      expect(context.spanId ?? span).toMatch(/^[0-9a-f]{16}$/)
    }
  )
})

describe("inject", () => {
  const context = { ...ids, parentSpanId: parent, sampled: true, debug: false, traceState: undefined }

  it("tells a recorded span in all three forms", () => {
    expect(inject({ ...context, traceState: "a=1" })).toEqual({
      traceparent: `00-${trace128}-${span}-01`,
      tracestate: "a=1",
      b3: `${trace128}-${span}-1-${parent}`,
      "x-b3-traceid": trace128,
      "x-b3-spanid": span,
      "x-b3-parentspanid": parent,
      "x-b3-sampled": "1"
    })
  })

  it("tells that a span without parent is not recorded", () => {
    expect(inject({ ...context, parentSpanId: undefined, sampled: false })).toEqual({
      traceparent: `00-${trace128}-${span}-00`,
      b3: `${trace128}-${span}-0`,
      "x-b3-traceid": trace128,
      "x-b3-spanid": span,
      "x-b3-sampled": "0"
    })
  })

  it("hands the debug flag on, which implies the decision", () => {
    expect(inject({ ...context, debug: true })).toMatchObject({
      b3: `${trace128}-${span}-d-${parent}`,
      "x-b3-flags": "1"
    })
    expect(inject({ ...context, debug: true })).not.toHaveProperty("x-b3-sampled")
  })

  it.each(["traceparent", "b3", "x-b3-"])("is read back from %s alone", (prefix) => {
    const headers = Object.fromEntries(Object.entries(inject(context)).filter(([name]) => name.startsWith(prefix)))
    expect(extract(headers)).toEqual({ ...none, ...ids, ...sampled })
  })
})

function multi(parts: { traceId?: string; sampled?: string; flags?: string }): Headers {
  return {
    "x-b3-traceid": parts.traceId ?? trace128,
    "x-b3-spanid": span,
    ...(parts.sampled === undefined ? undefined : { "x-b3-sampled": parts.sampled }),
    ...(parts.flags === undefined ? undefined : { "x-b3-flags": parts.flags })
  }
}
