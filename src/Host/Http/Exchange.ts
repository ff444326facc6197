/** A request on its way through the pipeline, and what was found out about it. */
import type * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import type { Ends } from "../ForwardedHeaders/ForwardedHeaders.ts"
import * as Timestamp from "../Logging/Timestamp.ts"
import type { Span } from "../Telemetry/Span.ts"
import type { RequestState } from "./CurrentRequest.ts"
import type * as Problem from "./Problem.ts"
import type { RequestHead } from "./RequestHead.ts"

/** One request, until it is answered. */
export class Exchange implements RequestHead, RequestState {
  readonly method: string
  readonly url: string
  readonly headers: RequestHead["headers"]
  readonly ends: Ends
  readonly clock: Clock.Clock
  /** When the request came, in nanoseconds since the epoch. */
  readonly start: bigint
  readonly requestId: string
  readonly span: Span | undefined
  route: string | undefined = undefined
  plugin: string | undefined = undefined
  /** Headers that the answer gets whatever it is. */
  limitHeaders: Readonly<Record<string, string>> | undefined = undefined
  /** Why the handler failed, where it did. */
  failure: Cause.Cause<unknown> | undefined = undefined
  /** Whether the answer is known, and was counted and told. */
  isClosed = false

  constructor(
    head: RequestHead,
    ends: Ends,
    clock: Clock.Clock,
    start: bigint,
    requestId: string,
    span: Span | undefined
  ) {
    this.method = head.method
    this.url = head.url
    this.headers = head.headers
    this.ends = ends
    this.clock = clock
    this.start = start
    this.requestId = requestId
    this.span = span
  }

  /** The client's, after forwarded headers; absent on a unix socket. */
  get clientAddress(): string | undefined {
    return this.ends.clientAddress
  }

  /** Where and when, for a problem. */
  get occurrence(): Problem.Occurrence {
    return {
      timestamp: Timestamp.toIso(this.clock.currentTimeMillisUnsafe()),
      requestId: this.requestId,
      traceId: this.span?.traceId
    }
  }
}
