/**
 * Limits how many requests a client may make, by the address of the client.
 *
 * The rules are those of AspNetCoreRateLimit (https://github.com/stefanprodan/AspNetCoreRateLimit/wiki), in the parts that
 * a user meets; the policies take effect.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Address from "../ForwardedHeaders/Address.ts"
import type { RequestHead } from "../Http/RequestHead.ts"
import * as Memo from "../Memo.ts"
import * as Series from "../Telemetry/Series.ts"
import * as AddressRange from "./AddressRange.ts"
import * as Client from "./Client.ts"
import type { Count, CounterStore } from "./CounterStore.ts"
import * as Endpoint from "./Endpoint.ts"
import * as MemoryCounters from "./MemoryCounters.ts"
import * as QuotaMessage from "./QuotaMessage.ts"
import type { RateLimitConfig, RateLimitPolicies, RateLimitRedis } from "./RateLimitConfig.ts"
import * as RedisCounters from "./RedisCounters.ts"
import type { Rule } from "./Rule.ts"
import * as RuleBook from "./RuleBook.ts"

/** What the limiter sees of a request. */
export interface RateLimitedRequest extends RequestHead {
  /** The client's, after forwarded headers; absent on a unix socket. */
  readonly clientAddress: string | undefined
}

/** Whether a request may go on. */
export type Decision = Allowed | Refused

/** The request goes on. */
export interface Allowed {
  readonly isAllowed: true
  /** What the answer carries besides; nothing where no rule counted the request. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** The request is answered with this. */
export interface Refused {
  readonly isAllowed: false
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** What the answer says, for a problem. */
  readonly detail: string
  /** The body that the configuration puts in the place of a problem. */
  readonly body: { readonly contentType: string; readonly content: string } | undefined
}

/** Decides on requests. */
export interface RateLimiter {
  /** Whether there is any rule; where there is none, every request may go on unasked. */
  readonly isEnabled: boolean
  /**
   * Decides on a request at once, at a time in milliseconds since 1970, and counts it: the effect waits only where the store of
   * the counters does.
   */
  readonly decide: (request: RateLimitedRequest, now: number) => Effect.Effect<Decision>
}

const allowed: Decision = { isAllowed: true, headers: undefined }

/** The wait that stands for "never", as AspNetCoreRateLimit has it. */
const forever = 2_147_483_647

/** Compiles the rules, and opens the store that counts. What the store holds ends with the scope. */
export const make = Effect.fnUntraced(function* (
  config: (typeof RateLimitConfig)["Service"],
  policies: (typeof RateLimitPolicies)["Service"],
  redis: (typeof RateLimitRedis)["Service"]
): Effect.fn.Return<RateLimiter, never, Scope.Scope> {
  const book = RuleBook.make(config, policies)
  yield* Effect.forEach(book.warnings, (warning) => Effect.logWarning(warning), { discard: true })
  if (book.isEmpty) return { isEnabled: false, decide: () => Effect.succeed(allowed) }

  const store: CounterStore =
    config.store === "redis"
      ? yield* RedisCounters.make({ ...redis, stackBlockedRequests: config.stackBlockedRequests })
      : MemoryCounters.make(config)
  const isWhitelisted = whitelist(config)
  const refusalOf = refusal(config)
  const counted = countDecisions(yield* Effect.context<never>())
  const needsEndpoint = config.enableEndpointRateLimiting || config.endpointWhitelist.length > 0 || book.hasEndpoints
  const needsPosition = book.hasPolicies || config.ipWhitelist.length > 0

  const answer = (count: Count | undefined): Decision => {
    if (count === undefined) return counted("store_unavailable", allowed)
    if (!count.isAllowed) {
      return counted("refused", refusalOf(count.rule, Math.max(1, Math.ceil(count.endsIn / 1000))))
    }
    return counted("allowed", config.disableRateLimitHeaders ? allowed : { isAllowed: true, headers: headersOf(count) })
  }

  const decide = (request: RateLimitedRequest, now: number): Effect.Effect<Decision> => {
    const verb = needsEndpoint ? Endpoint.verbOf(request.method) : ""
    const path = needsEndpoint ? Endpoint.pathOf(request.url) : ""
    const position = needsPosition ? positionOf(request.clientAddress) : undefined
    if (isWhitelisted(request, position, verb, path)) return Effect.succeed(counted("whitelisted", allowed))

    const rules = book.rulesOf(position, verb, path)
    if (rules.length === 0) return Effect.succeed(counted("unlimited", allowed))
    const closed = rules.find(({ limit }) => limit === 0)
    if (closed !== undefined) return Effect.succeed(counted("refused", refusalOf(closed, forever)))

    const endpoint = config.enableEndpointRateLimiting ? `${verb}:${path}` : "*"
    const client = Client.nameOf(request.clientAddress)
    return Effect.mapEager(store.count({ client, endpoint, rules }, now), answer)
  }
  return { isEnabled: true, decide }
})

const positionOf = (text: string | undefined): AddressRange.Position | undefined => {
  const address = text === undefined ? undefined : Address.parse(text)
  return address === undefined ? undefined : AddressRange.positionOf(address)
}

type DecisionKind = "allowed" | "refused" | "whitelisted" | "unlimited" | "store_unavailable"

/** Counts decisions by their kind. */
const countDecisions = (context: Context.Context<never>) => {
  const seriesOf = (decision: DecisionKind) =>
    Series.counter(
      "layerhost.rate_limit.decisions",
      { description: "Requests that the rate limiter decided on", attributes: { decision }, incremental: true },
      context
    )
  const all: Partial<Record<DecisionKind, Series.Counter>> = {}
  return (kind: DecisionKind, decision: Decision): Decision => {
    const series = (all[kind] ??= seriesOf(kind))
    series.add(1)
    return decision
  }
}

const whitelist = (config: (typeof RateLimitConfig)["Service"]) => {
  const clients = new Set(config.clientWhitelist)
  const clientIdHeader = config.clientIdHeader.toLowerCase()
  const ranges = config.ipWhitelist.map((text) => Result.getOrThrow(AddressRange.parse(text)))
  const endpoints = config.endpointWhitelist.map((text) => Result.getOrThrow(Endpoint.parsePattern(text)))
  return (
    { headers }: RateLimitedRequest,
    position: AddressRange.Position | undefined,
    verb: string,
    path: string
  ): boolean => {
    const clientId = clients.size === 0 ? undefined : headers[clientIdHeader]
    return (
      (clientId !== undefined && clients.has(clientId)) ||
      (position !== undefined && ranges.some((range) => AddressRange.contains(range, position))) ||
      endpoints.some((pattern) => Endpoint.matches(pattern, verb, path))
    )
  }
}

/** Of the rule with the longest period, as AspNetCoreRateLimit has them: the limit is the period, the reset a date. */
const headersOf = ({ endsAt, requests, rule }: Count): Record<string, string> => ({
  "x-rate-limit-limit": rule.period,
  "x-rate-limit-remaining": String(Math.max(0, rule.limit - requests)),
  "x-rate-limit-reset": isoOf(endsAt)
})

/** All requests of a window tell the same end. */
const isoOf = Memo.make((millis: number) => new Date(millis).toISOString())

const refusal = (config: (typeof RateLimitConfig)["Service"]) => {
  const response = config.quotaExceededResponse
  const message = Result.getOrThrow(QuotaMessage.parse(config.quotaExceededMessage))
  const content = response?.content === undefined ? message : Result.getOrThrow(QuotaMessage.parse(response.content))
  return ({ limit, period }: Rule, retryAfter: number): Refused => ({
    isAllowed: false,
    status: response?.statusCode ?? config.httpStatusCode,
    headers: config.disableRateLimitHeaders ? {} : { "retry-after": String(retryAfter) },
    detail: message(limit, period, retryAfter),
    body:
      response === undefined
        ? undefined
        : { contentType: response.contentType, content: content(limit, period, retryAfter) }
  })
}
