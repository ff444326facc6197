/** Limiters for tests, from configuration as a file has it. */
import * as Arbitrary from "effect/Arbitrary"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as RateLimitConfig from "../../../src/Host/RateLimiting/RateLimitConfig.ts"
import * as RateLimiter from "../../../src/Host/RateLimiting/RateLimiter.ts"

export interface Sections {
  readonly ipRateLimiting?: Record<string, unknown>
  readonly redis?: Record<string, unknown>
  readonly ipRateLimitPolicies?: Record<string, unknown>
}

/** A limiter by the clock of the test. */
export interface Limiter {
  readonly isEnabled: boolean
  readonly check: (request: RateLimiter.RateLimitedRequest) => Effect.Effect<RateLimiter.Decision>
}

/** The limiter that a configuration makes. */
export const make = (sections: Sections) =>
  Effect.gen(function* () {
    const limiter = yield* RateLimiter.make(
      yield* RateLimitConfig.RateLimitConfig,
      yield* RateLimitConfig.RateLimitPolicies,
      yield* RateLimitConfig.RateLimitRedis
    )
    const check: Limiter["check"] = (request) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => limiter.decide(request, now))
    return { isEnabled: limiter.isEnabled, check } satisfies Limiter
  }).pipe(
    Effect.provide([
      RateLimitConfig.RateLimitConfig.layer(sections.ipRateLimiting as {}),
      RateLimitConfig.RateLimitRedis.layer(sections.redis as {}),
      RateLimitConfig.RateLimitPolicies.layer(sections.ipRateLimitPolicies as {})
    ])
  )

/** A request such as `GET /api/values`. */
export const request = (
  line: string,
  clientAddress: string | undefined = "203.0.113.7",
  headers: Readonly<Record<string, string>> = {}
): RateLimiter.RateLimitedRequest => {
  const [method, url] = line.split(" ") as [string, string]
  return { method, url, clientAddress, headers }
}

/** Texts of the given pieces. */
export const textsOf = (pieces: ReadonlyArray<string>) =>
  Arbitrary.map(Arbitrary.array(Arbitrary.schema(Schema.Literals(pieces)), { maxLength: 12 }), (parts) =>
    parts.join("")
  )
