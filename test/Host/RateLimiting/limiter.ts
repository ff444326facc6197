/** Limiters for tests, from configuration as a file has it. */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as RateLimitConfig from "../../../src/Host/RateLimiting/RateLimitConfig.ts"
import * as RateLimiter from "../../../src/Host/RateLimiting/RateLimiter.ts"

export interface Sections {
  readonly ipRateLimiting?: Record<string, unknown>
  readonly redis?: Record<string, unknown>
  readonly ipRateLimitPolicies?: Record<string, unknown>
}

/** The limiter that a configuration makes. */
export const make = (sections: Sections) =>
  Effect.gen(function* () {
    return yield* RateLimiter.make(
      yield* RateLimitConfig.RateLimitConfig,
      yield* RateLimitConfig.RateLimitPolicies,
      yield* RateLimitConfig.RateLimitRedis
    )
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
