/**
 * The trace that a request belongs to, as its headers tell it and as outgoing requests pass it on: W3C Trace Context
 * (https://www.w3.org/TR/trace-context/) and B3 (https://github.com/openzipkin/b3-propagation), single and multiple headers.
 */

/** What the headers of a request say. Both ids are there, or none is. */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits; those of 16 are padded with zeros. */
  readonly traceId: string | undefined
  /** 16 lower-case hexadecimal digits: the span of the caller. */
  readonly spanId: string | undefined
  /** Whether the caller records the trace; absent where it leaves that to the host. */
  readonly sampled: boolean | undefined
  /** B3's debug flag: record the trace whatever sampling says, everywhere. */
  readonly debug: boolean
  /** W3C's `tracestate`, which is passed on as it is. */
  readonly traceState: string | undefined
}

/** The context of a request that is part of no trace yet. */
export const none: TraceContext = {
  traceId: undefined,
  spanId: undefined,
  sampled: undefined,
  debug: false,
  traceState: undefined
}

/** Headers by their names in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>

/**
 * Reads the context. The first of `traceparent`, `b3` and `x-b3-*` that is well formed counts; what is malformed is as if it
 * were not there.
 */
export const extract = (headers: Headers): TraceContext =>
  fromW3C(headers) ?? fromB3(headers) ?? fromMultiB3(headers) ?? none

/** Version, trace id, span id and flags; versions after 00 may append more. */
const traceparent = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

const fromW3C = (headers: Headers): TraceContext | undefined => {
  const header = headers["traceparent"]
  const match = header === undefined ? null : traceparent.exec(header)
  if (match === null || (match[1] === "00" && match[5] !== undefined)) return undefined
  const traceState = headers["tracestate"]
  return {
    traceId: match[2],
    spanId: match[3],
    sampled: (Number.parseInt(match[4]!, 16) & 1) === 1,
    debug: false,
    // A list may have 512 characters; who sends more gets none of it passed on.
    traceState: traceState !== undefined && traceState.length <= 512 ? traceState : undefined
  }
}

/** Trace id, span id, and where they are told the sampling decision and the id of the parent span. */
const single = /^([0-9a-f]{16}|[0-9a-f]{32})-([0-9a-f]{16})(?:-([01d]|true|false)(?:-[0-9a-f]{16})?)?$/i

const fromB3 = (headers: Headers): TraceContext | undefined => {
  const header = headers["b3"]
  if (header === undefined) return undefined
  const decision = decisionOf(header)
  if (decision !== undefined) return { ...none, ...decision }
  const [, traceId, spanId, sampled] = single.exec(header) ?? []
  return withIds(traceId, spanId, sampled === undefined ? undecided : decisionOf(sampled))
}

const fromMultiB3 = (headers: Headers): TraceContext | undefined => {
  const sampled = headers["x-b3-sampled"]
  const flags = headers["x-b3-flags"]
  const traceId = headers["x-b3-traceid"]
  const spanId = headers["x-b3-spanid"]
  if (sampled === undefined && flags === undefined && traceId === undefined && spanId === undefined) return undefined
  const decision =
    flags === "1" ? decisionOf("d") : sampled === undefined ? undecided : (decisionOf(sampled) ?? undecided)
  return traceId === undefined && spanId === undefined ? { ...none, ...decision } : withIds(traceId, spanId, decision)
}

interface Decision {
  readonly sampled: boolean | undefined
  readonly debug: boolean
}

const undecided: Decision = { sampled: undefined, debug: false }

const decisionOf = (text: string): Decision | undefined => {
  switch (text.toLowerCase()) {
    case "1":
    case "true":
      return { sampled: true, debug: false }
    case "0":
    case "false":
      return { sampled: false, debug: false }
    case "d":
      return { sampled: true, debug: true }
    default:
      return undefined
  }
}

const b3TraceId = /^(?!0+$)(?:[0-9a-f]{16}|[0-9a-f]{32})$/i
const b3SpanId = /^(?!0+$)[0-9a-f]{16}$/i

const withIds = (
  traceId: string | undefined,
  spanId: string | undefined,
  decision: Decision | undefined
): TraceContext | undefined => {
  const ids = traceId === undefined || spanId === undefined ? undefined : idsOf({ traceId, spanId })
  return ids === undefined ? undefined : { ...none, ...ids, ...(decision ?? undecided) }
}

/** Ids in the one form that is exported. */
export interface Ids {
  readonly traceId: string
  readonly spanId: string
}

/** The ids of any span, 16 digits padded to 32; none where they are not what they should be, as another tracer's may be. */
export const idsOf = ({ spanId, traceId }: Ids): Ids | undefined =>
  b3TraceId.test(traceId) && b3SpanId.test(spanId)
    ? { traceId: traceId.toLowerCase().padStart(32, "0"), spanId: spanId.toLowerCase() }
    : undefined

/** What outgoing requests tell of the span in which they are made. */
export interface Propagated {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly sampled: boolean
  readonly debug: boolean
  readonly traceState: string | undefined
}

/** The headers of an outgoing request, in all three forms. */
export const inject = (span: Propagated): Record<string, string> => {
  const { parentSpanId } = span
  const state = span.debug ? "d" : span.sampled ? "1" : "0"
  return {
    traceparent: `00-${span.traceId}-${span.spanId}-${span.sampled ? "01" : "00"}`,
    ...(span.traceState === undefined ? undefined : { tracestate: span.traceState }),
    b3: `${span.traceId}-${span.spanId}-${state}${parentSpanId === undefined ? "" : `-${parentSpanId}`}`,
    "x-b3-traceid": span.traceId,
    "x-b3-spanid": span.spanId,
    ...(parentSpanId === undefined ? undefined : { "x-b3-parentspanid": parentSpanId }),
    // The debug flag implies that the trace is recorded, and stands alone.
    ...(span.debug ? { "x-b3-flags": "1" } : { "x-b3-sampled": state })
  }
}
