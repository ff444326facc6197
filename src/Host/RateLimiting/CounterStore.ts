/**
 * Where requests are counted.
 */
import type * as Effect from "effect/Effect"
import type { Rule } from "./Rule.ts"

/** How a request stands with the rules that apply to it. */
export interface Count {
  readonly isAllowed: boolean
  /** The rule that the client is told of: of those that refuse it the one that lasts longest, else the longest period. */
  readonly rule: Rule
  /** The requests that this rule's window has seen. */
  readonly requests: number
  /** When this rule's window ends, in milliseconds from now. */
  readonly endsIn: number
  /** The same as a time, in milliseconds since 1970 by the clock of the store; no request in the window moves it. */
  readonly endsAt: number
}

/** What is counted: the requests of a client to an endpoint. */
export interface Counted {
  readonly client: string
  readonly endpoint: string
  /** At least one; the shortest period first, each period once, no limit below 1. */
  readonly rules: ReadonlyArray<Rule>
}

/**
 * Counts requests in fixed windows, one for each client, endpoint and period, which start at the first request. A request
 * is allowed where no window is full.
 */
export interface CounterStore {
  /**
   * Counts a request at once, or begins to; nothing where the store is away, and the request is not counted. `now` is in
   * milliseconds since 1970, for stores without a clock of their own.
   */
  readonly count: (counted: Counted, now: number) => Effect.Effect<Count | undefined>
}

/** What all stores take. */
export interface CounterStoreOptions {
  /** Whether a refused request counts in all its windows; else it counts in none. */
  readonly stackBlockedRequests: boolean
}
