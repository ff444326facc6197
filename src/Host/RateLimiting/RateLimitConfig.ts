/**
 * The sections `ipRateLimiting`, `ipRateLimiting:redis` and `ipRateLimitPolicies` of the configuration.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { DurationText } from "../Configuration/DurationText.ts"
import * as Section from "../../Plugins/Section.ts"
import * as AddressRange from "./AddressRange.ts"
import * as Endpoint from "./Endpoint.ts"
import * as QuotaMessage from "./QuotaMessage.ts"
import * as Rule from "./Rule.ts"

/** A text that a parser takes; what the parser says of any other is the error. */
const textOf = (parse: (text: string) => Result.Result<unknown, string>) =>
  Schema.String.check(
    Schema.makeFilter((text) => {
      const parsed = parse(text)
      return Result.isSuccess(parsed) ? true : parsed.failure
    })
  )

const parseRedisUrl = (text: string): Result.Result<URL, string> => {
  const url = URL.parse(text)
  // The text may hold a password, so that the message does not repeat it.
  return url !== null && /^rediss?:$/.test(url.protocol) && url.hostname !== "" && /^\/?\d*$/.test(url.pathname)
    ? Result.succeed(url)
    : Result.fail("expected a URL of the form redis://host:port/database or rediss://host:port/database")
}

const listOf = <S extends Schema.Constraint>(element: S) =>
  Schema.Array(element).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))

const flag = Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))

const ErrorStatus = Schema.Int.check(Schema.isBetween({ minimum: 400, maximum: 599 }))

const RuleConfig = Schema.Struct({
  /** `*` for all, or a verb or `*` and a path: `get:/api/values`, `*:/api/*`. */
  endpoint: textOf(Endpoint.parsePattern),
  /** A whole number and `s`, `m`, `h` or `d`. */
  period: textOf(Rule.parsePeriod),
  /** How many requests a period has; 0 refuses all. */
  limit: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
})

/** How many requests a client may make; no rule, no limit. */
export class RateLimitConfig extends Section.Service<RateLimitConfig>()("ipRateLimiting", {
  enableEndpointRateLimiting: flag.annotateKey({
    description:
      "Whether rules for endpoints count, each endpoint by itself; else rules for * count alone, all endpoints together."
  }),
  stackBlockedRequests: flag.annotateKey({
    description: "Whether a refused request counts towards all limits that it meets; else it counts towards none."
  }),
  httpStatusCode: ErrorStatus.pipe(Schema.withDecodingDefaultKey(Effect.succeed(429))).annotateKey({
    description: "The status of a refused request."
  }),
  ipWhitelist: listOf(textOf(AddressRange.parse)).annotateKey({
    description: "Clients without a limit: addresses, CIDRs, ranges."
  }),
  endpointWhitelist: listOf(textOf(Endpoint.parsePattern)).annotateKey({ description: "Endpoints without a limit." }),
  clientIdHeader: Schema.String.check(Schema.isPattern(/^[\w!#$%&'*+.^`|~-]+$/, { expected: "a header's name" }))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("X-ClientId")))
    .annotateKey({
      description:
        "Where clients name themselves. Anyone can: a name in clientWhitelist is as good as a password, and no better."
    }),
  clientWhitelist: listOf(Schema.NonEmptyString).annotateKey({ description: "Names of clients without a limit." }),
  generalRules: listOf(RuleConfig).annotateKey({ description: "The rules that hold for every client." }),
  quotaExceededMessage: textOf(QuotaMessage.parse)
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("API calls quota exceeded! maximum admitted {0} per {1}.")))
    .annotateKey({
      description:
        "What the answer to a refused request says: {0} is the limit, {1} the period, {2} the seconds to wait."
    }),
  quotaExceededResponse: Schema.optionalKey(
    Schema.Struct({
      contentType: Schema.String.check(
        Schema.isPattern(/^[\t\x20-\x7e]+$/, { expected: "a media type such as application/json" })
      ).pipe(Schema.withDecodingDefaultKey(Effect.succeed("text/plain"))),
      /** With the places of `quotaExceededMessage`, which is also what stands here by default. */
      content: Schema.optionalKey(textOf(QuotaMessage.parse)),
      statusCode: Schema.optionalKey(ErrorStatus)
    })
  ).annotateKey({ description: "Stands in the place of the problem that a refused request is answered with." }),
  disableRateLimitHeaders: flag.annotateKey({ description: "Leaves out X-Rate-Limit-* and Retry-After." }),
  store: Schema.Literals(["memory", "redis"])
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("memory" as const)))
    .annotateKey({
      description: "Where requests are counted: by each instance in its memory, or by all of them together in Redis."
    })
}) {}

/** The Redis of `store: redis`. */
export class RateLimitRedis extends Section.Service<RateLimitRedis>()("ipRateLimiting:redis", {
  url: Schema.RedactedFromValue(textOf(parseRedisUrl))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("redis://127.0.0.1:6379")))
    .annotateKey({ description: "May hold the user and the password: rediss://user:password@host:port/database." }),
  prefix: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("layerhost:rate-limit:"))).annotateKey({
    description:
      "What all keys in Redis begin with; services that share a Redis and not their limits need different ones."
  }),
  timeout: DurationText.pipe(Schema.withDecodingDefaultKey(Effect.succeed("40ms"))).annotateKey({
    description: "How long a request waits for Redis before it passes uncounted."
  })
}) {}

/** Rules of their own for some clients: each replaces the general rules of the same period. */
export class RateLimitPolicies extends Section.Service<RateLimitPolicies>()("ipRateLimitPolicies", {
  ipRules: listOf(
    Schema.Struct({
      /** An address, a CIDR or a range `a-b`. */
      ip: textOf(AddressRange.parse),
      rules: Schema.Array(RuleConfig)
    })
  ).annotateKey({ description: "The clients and their rules." })
}) {}
