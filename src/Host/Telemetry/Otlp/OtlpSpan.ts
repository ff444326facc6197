/** Spans as OTLP has them. */
import * as Cause from "effect/Cause"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { SpanKind, SpanLink } from "effect/Tracer"
import * as LogError from "../../Logging/LogError.ts"
import * as LogValue from "../../Logging/LogValue.ts"
import type { Span } from "../Span.ts"
import { idsOf } from "../TraceContext.ts"
import { Nanos, type OtlpEvent, type OtlpLink, type OtlpSpan } from "./OtlpMessages.ts"
import { Attributes } from "./OtlpValue.ts"

const kinds: { readonly [Kind in SpanKind]: number } = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 }

const statusOk = 1
const statusError = 2

/** A span that ended. */
export const make = (span: Span): OtlpSpan => {
  const { status } = span
  const budget = LogValue.budget()
  const end = status._tag === "Ended" ? status.endTime : status.startTime
  const outcome = status._tag === "Ended" ? outcomeOf(span, status.exit) : undefined
  const error = outcome?.error
  const events = span.events.map((event): OtlpEvent => ({
    timeUnixNano: new Nanos(event.time),
    name: event.name,
    attributes: new Attributes(Object.entries(event.attributes), budget)
  }))
  if (error !== undefined) events.push(exceptionEvent(error, end))
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    traceState: span.traceState,
    parentSpanId: span.parentSpanId,
    flags: flagsOf(span),
    name: span.name,
    kind: kinds[span.kind],
    startTimeUnixNano: new Nanos(status.startTime),
    endTimeUnixNano: new Nanos(end),
    attributes: new Attributes(
      error === undefined ? span.attributes : [["error.type", error.type], ...span.attributes],
      budget
    ),
    droppedAttributesCount: span.droppedAttributes || undefined,
    events: events.length === 0 ? undefined : events,
    droppedEventsCount: span.droppedEvents || undefined,
    links: span.links.length === 0 ? undefined : span.links.flatMap((link) => linkOf(link, budget)),
    droppedLinksCount: span.droppedLinks || undefined,
    status:
      outcome === undefined || outcome.code === 0 ? undefined : { code: outcome.code, message: outcome.error?.message }
  }
}

const linkOf = (link: SpanLink, budget: LogValue.Budget): ReadonlyArray<OtlpLink> => {
  const ids = idsOf(link.span)
  return ids === undefined ? [] : [{ ...ids, attributes: new Attributes(Object.entries(link.attributes), budget) }]
}

/** That the trace is sampled, and whether the parent is a span of another process, which OTLP wants told either way. */
const flagsOf = ({ parent }: Span): number =>
  0x101 | (Option.isSome(parent) && parent.value._tag === "ExternalSpan" ? 0x200 : 0)

interface Outcome {
  readonly code: number
  readonly error: LogError.LogError | undefined
}

/** A server's success is for its caller to judge; any other operation that succeeded is well. */
const outcomeOf = (span: Span, exit: Exit.Exit<unknown, unknown>): Outcome => {
  if (exit._tag === "Success") return { code: span.kind === "internal" ? statusOk : 0, error: undefined }
  if (Cause.hasInterruptsOnly(exit.cause)) return { code: 0, error: undefined }
  // A span that says itself what its error is, such as an HTTP status, tells all there is to tell.
  const error = span.attributes.has("error.type") ? undefined : LogError.make(exit.cause, [], LogValue.budget())
  return { code: statusError, error }
}

const exceptionEvent = (error: LogError.LogError, time: bigint): OtlpEvent => ({
  timeUnixNano: new Nanos(time),
  name: "exception",
  attributes: new Attributes([
    ["exception.type", error.type],
    ["exception.message", error.message],
    ["exception.stacktrace", error.stackTrace]
  ])
})
