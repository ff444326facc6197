/**
 * Spans: what one operation did and when, as the host records it.
 */
import * as Context from "effect/Context"
import * as Hex from "effect/encoding/Hex"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as EffectTracer from "effect/Tracer"
import { type Ids, idsOf, type Propagated, type TraceContext } from "./TraceContext.ts"

/** Attributes, events and links of one span beyond this many are left out, and counted. */
export const maxCount = 128

/** Something that happened at one moment of a span. */
export interface SpanEvent {
  readonly name: string
  readonly time: bigint
  readonly attributes: Readonly<Record<string, unknown>>
}

/** The span of a caller, which some other process records. */
export class RemoteSpan implements EffectTracer.ExternalSpan {
  readonly _tag = "ExternalSpan"
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
  readonly annotations = Context.empty()
  readonly debug: boolean
  readonly traceState: string | undefined

  constructor(context: TraceContext & { readonly traceId: string; readonly spanId: string }, sampled: boolean) {
    this.traceId = context.traceId
    this.spanId = context.spanId
    this.sampled = sampled
    this.debug = context.debug
    this.traceState = context.traceState
  }
}

/** What a span is made from. */
export interface SpanOptions {
  readonly name: string
  readonly parent: Option.Option<EffectTracer.AnySpan>
  readonly annotations: Context.Context<never>
  readonly links: ReadonlyArray<EffectTracer.SpanLink>
  readonly startTime: bigint
  readonly kind: EffectTracer.SpanKind
  readonly sampled: boolean
  /** B3's debug flag, where no parent carries it. */
  readonly debug?: boolean
}

const noAttributes = new Map<never, never>()
const none: Array<never> = []

/**
 * A span of this process. One that is not sampled keeps nothing, not even that it ended, but it has ids, so that log lines
 * can be told apart and the decision travels on. Ids are made when they are first asked for.
 */
export class Span implements EffectTracer.Span, Propagated {
  readonly _tag = "Span"
  /** A server's span gets its name when the route is known. */
  name: string
  readonly parent: Option.Option<EffectTracer.AnySpan>
  readonly annotations: Context.Context<never>
  readonly kind: EffectTracer.SpanKind
  readonly sampled: boolean
  readonly debug: boolean
  readonly traceState: string | undefined
  readonly attributes: Map<string, unknown>
  readonly events: Array<SpanEvent>
  readonly links: Array<EffectTracer.SpanLink>
  droppedAttributes = 0
  droppedEvents = 0
  droppedLinks = 0
  status: EffectTracer.SpanStatus
  /** The first span of the trace in this process. */
  readonly localRoot: Span
  readonly #parentIds: Ids | undefined
  readonly #onEnd: (span: Span) => void
  #traceId: string | undefined
  #spanId: string | undefined

  constructor(options: SpanOptions, onEnd: (span: Span) => void) {
    const parent = Option.getOrUndefined(options.parent)
    this.name = options.name
    this.parent = options.parent
    this.annotations = options.annotations
    this.kind = options.kind
    this.sampled = options.sampled
    this.attributes = options.sampled ? new Map() : noAttributes
    this.events = options.sampled ? [] : none
    this.links = options.sampled ? [] : none
    this.debug = parent instanceof Span || parent instanceof RemoteSpan ? parent.debug : options.debug === true
    this.traceState = parent instanceof Span || parent instanceof RemoteSpan ? parent.traceState : undefined
    this.#parentIds =
      parent === undefined || parent instanceof Span || parent instanceof RemoteSpan ? parent : idsOf(parent)
    this.localRoot = parent instanceof Span ? parent.localRoot : this
    this.status = { _tag: "Started", startTime: options.startTime }
    this.#onEnd = onEnd
    if (options.links.length > 0) this.addLinks(options.links)
  }

  get traceId(): string {
    return (this.#traceId ??= this.#parentIds?.traceId ?? Hex.random(32))
  }

  get spanId(): string {
    return (this.#spanId ??= Hex.random(16))
  }

  get parentSpanId(): string | undefined {
    return this.#parentIds?.spanId
  }

  attribute(name: string, value: unknown): void {
    if (!this.sampled || this.status._tag === "Ended") return
    if (this.attributes.size >= maxCount && !this.attributes.has(name)) this.droppedAttributes++
    else this.attributes.set(name, value)
  }

  event(name: string, time: bigint, attributes: Record<string, unknown> = {}): void {
    if (!this.sampled || this.status._tag === "Ended") return
    if (this.events.length >= maxCount) this.droppedEvents++
    else this.events.push({ name, time, attributes })
  }

  addLinks(links: ReadonlyArray<EffectTracer.SpanLink>): void {
    if (!this.sampled || this.status._tag === "Ended") return
    const taken = links.slice(0, maxCount - this.links.length)
    this.links.push(...taken)
    this.droppedLinks += links.length - taken.length
  }

  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>): void {
    if (!this.sampled || this.status._tag === "Ended") return
    this.status = { _tag: "Ended", startTime: this.status.startTime, endTime, exit }
    this.#onEnd(this)
  }
}
