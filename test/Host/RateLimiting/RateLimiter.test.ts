import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Metric from "effect/Metric"
import { make, request } from "./limiter.ts"

const onePerMinute = [{ endpoint: "*", period: "1m", limit: 1 }]

const refuse = Effect.fnUntraced(function* (ipRateLimiting: Record<string, unknown>) {
  const limiter = yield* make({ ipRateLimiting: { generalRules: onePerMinute, ...ipRateLimiting } })
  yield* limiter.check(request("GET /"))
  return yield* limiter.check(request("GET /"))
})

describe("RateLimiter", () => {
  it.effect("is disabled without a rule, also with white lists", () =>
    Effect.gen(function* () {
      const limiter = yield* make({ ipRateLimiting: { ipWhitelist: ["10.0.0.0/8"] } })
      assert.isFalse(limiter.isEnabled)
      assert.deepStrictEqual(yield* limiter.check(request("GET /")), { isAllowed: true, headers: undefined })
    })
  )

  it.effect("takes policies without a general rule", () =>
    Effect.gen(function* () {
      const limiter = yield* make({ ipRateLimitPolicies: { ipRules: [{ ip: "10.0.0.0/8", rules: onePerMinute }] } })
      assert.isTrue(limiter.isEnabled)
      const isAllowed = (address: string | undefined) =>
        Effect.map(limiter.check(request("GET /", address)), (decision) => decision.isAllowed)
      assert.isTrue(yield* isAllowed("10.0.0.1"))
      assert.isFalse(yield* isAllowed("10.0.0.1"))
      assert.isTrue(yield* isAllowed("11.0.0.1"))
      assert.isTrue(yield* isAllowed("11.0.0.1"))
    })
  )

  it.effect("unites the policies whose ranges overlap, the lowest limit of a period first", () =>
    Effect.gen(function* () {
      const limiter = yield* make({
        ipRateLimitPolicies: {
          ipRules: [
            { ip: "10.0.0.0/8", rules: [{ endpoint: "*", period: "1m", limit: 3 }] },
            { ip: "10.1.0.0-10.1.0.9", rules: [{ endpoint: "*", period: "1m", limit: 2 }] },
            { ip: "10.1.0.9", rules: [{ endpoint: "*", period: "1h", limit: 1 }] }
          ]
        }
      })
      const passed = Effect.fnUntraced(function* (address: string) {
        const decisions = yield* Effect.replicateEffect(limiter.check(request("GET /", address)), 5)
        return decisions.filter(({ isAllowed }) => isAllowed).length
      })
      assert.deepStrictEqual(
        yield* Effect.forEach(["10.9.9.9", "10.1.0.1", "10.1.0.9", "::ffff:10.1.0.2"], passed),
        [3, 2, 1, 2]
      )
    })
  )

  it.effect("refuses with a problem's words", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* refuse({}), {
        isAllowed: false,
        status: 429,
        headers: { "retry-after": "60" },
        detail: "API calls quota exceeded! maximum admitted 1 per 1m.",
        body: undefined
      })
    })
  )

  it.effect("refuses with the status and the message of the configuration", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* refuse({
          httpStatusCode: 503,
          quotaExceededMessage: "{{Wait}} {2} s: {0}/{1}",
          quotaExceededResponse: {}
        }),
        {
          isAllowed: false,
          status: 503,
          headers: { "retry-after": "60" },
          detail: "{Wait} 60 s: 1/1m",
          body: { contentType: "text/plain", content: "{Wait} 60 s: 1/1m" }
        }
      )
    })
  )

  it.effect("refuses with the body of the configuration, and without headers", () =>
    Effect.gen(function* () {
      const refused = yield* refuse({
        disableRateLimitHeaders: true,
        quotaExceededResponse: {
          contentType: "application/json",
          content: '{{ "details": "{0} per {1}. Try again in {2} second(s)." }}',
          statusCode: 420
        }
      })
      assert.deepInclude(refused, {
        status: 420,
        headers: {},
        body: { contentType: "application/json", content: '{ "details": "1 per 1m. Try again in 60 second(s)." }' }
      })
    })
  )

  it.effect("allows without headers when they are disabled", () =>
    Effect.gen(function* () {
      const limiter = yield* make({ ipRateLimiting: { generalRules: onePerMinute, disableRateLimitHeaders: true } })
      assert.deepStrictEqual(yield* limiter.check(request("GET /")), { isAllowed: true, headers: undefined })
    })
  )

  it.effect("does not let clients whitelist themselves unless a list says so", () =>
    Effect.gen(function* () {
      const refused = (yield* refuse({ clientIdHeader: "X-Api-Client" })).isAllowed
      assert.isFalse(refused)
      const limiter = yield* make({
        ipRateLimiting: { generalRules: onePerMinute, clientIdHeader: "X-Api-Client", clientWhitelist: ["Trusted"] }
      })
      const isAllowed = (id: string) =>
        Effect.map(
          limiter.check(request("GET /", "10.0.0.1", { "x-api-client": id })),
          (decision) => decision.isAllowed
        )
      assert.deepStrictEqual(
        yield* Effect.forEach(["Trusted", "Trusted", "trusted", "trusted", "", "Trusted"], isAllowed),
        [true, true, true, false, false, true]
      )
    })
  )

  it.effect("counts all clients of unknown address as one, and a /64 as one", () =>
    Effect.gen(function* () {
      const limiter = yield* make({ ipRateLimiting: { generalRules: onePerMinute } })
      const isAllowed = (address: string | undefined) =>
        Effect.map(limiter.check({ ...request("GET /"), clientAddress: address }), (decision) => decision.isAllowed)
      assert.deepStrictEqual(
        yield* Effect.forEach([undefined, "garbage", "2001:db8::1", "2001:db8::ffff", "2001:db8:0:1::1"], isAllowed),
        [true, false, true, false, true]
      )
    })
  )

  it.effect("warns of rules that have no effect", () => {
    const messages: Array<unknown> = []
    return Effect.gen(function* () {
      yield* make({
        ipRateLimiting: { generalRules: [...onePerMinute, { endpoint: "get:/a", period: "1s", limit: 1 }] },
        ipRateLimitPolicies: { ipRules: [{ ip: "::1", rules: [{ endpoint: "*:*", period: "1s", limit: 1 }] }] }
      })
      const why = "count only with ipRateLimiting:enableEndpointRateLimiting"
      assert.deepStrictEqual(messages, [
        [`ipRateLimiting:generalRules:1 has no effect: rules for an endpoint such as get:/a ${why}`],
        [`ipRateLimitPolicies:ipRules:0:rules:0 has no effect: rules for an endpoint such as *:* ${why}`]
      ])
    }).pipe(Effect.provide(Logger.layer([Logger.make(({ message }) => messages.push(message))])))
  })

  it.effect("counts its decisions", () =>
    Effect.gen(function* () {
      const limiter = yield* make({
        ipRateLimiting: {
          enableEndpointRateLimiting: true,
          generalRules: [
            { endpoint: "*:/limited", period: "1m", limit: 2 },
            { endpoint: "*:/closed", period: "1m", limit: 0 }
          ],
          endpointWhitelist: ["*:/free"]
        }
      })
      for (const path of ["/limited", "/limited", "/limited", "/free", "/other", "/closed"]) {
        yield* limiter.check(request(`GET ${path}`))
      }
      const counts = (yield* Metric.snapshot).flatMap((metric) =>
        metric.id === "layerhost.rate_limit.decisions" && metric.type === "Counter"
          ? [[metric.attributes?.["decision"], Number(metric.state.count)]]
          : []
      )
      assert.deepStrictEqual(Object.fromEntries(counts), {
        allowed: 2,
        refused: 2,
        whitelisted: 1,
        unlimited: 1
      })
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})
