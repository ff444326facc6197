/**
 * The examples of AspNetCoreRateLimit's documentation
 * (https://github.com/stefanprodan/AspNetCoreRateLimit/wiki/IpRateLimitMiddleware) and of its tests, as a table.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import { make, request, type Sections } from "./limiter.ts"

interface Step {
  /** What passes before the request. */
  readonly after?: string
  /** `GET /api/values`. */
  readonly send: string
  readonly from?: string
  readonly clientId?: string
  /** How often it is sent, and how many of these requests are allowed: all or none unless told. */
  readonly times?: number
  readonly passed?: number
  /** Period, remaining and reset, where the answer to the last of them carries these headers. */
  readonly allowed?: readonly [limit: string, remaining: string, reset: string] | "without headers"
  /** The seconds of `Retry-After`, and the rule that the answer to the last of them names. */
  readonly refused?: readonly [retryAfter: number, rule: string]
}

interface Example extends Sections {
  readonly name: string
  readonly steps: ReadonlyArray<Step>
}

const rule = (endpoint: string, period: string, limit: number) => ({ endpoint, period, limit })

/** Midnight, where TestClock starts, and what comes after. */
const at = (time: string) => `1970-01-01T${time}Z`

const perEndpoint = { enableEndpointRateLimiting: true, stackBlockedRequests: false }

/** The configuration that its tests run with. */
const demo: Sections = {
  ipRateLimiting: {
    ...perEndpoint,
    ipWhitelist: ["::1/10", "192.168.0.0/24"],
    endpointWhitelist: [
      "delete:/api/values",
      "*:/api/clients",
      "*:/api/ClientRateLimit",
      "*:/api/IpRateLimit",
      "get:/"
    ],
    clientWhitelist: ["cl-key-1", "cl-key-2"],
    generalRules: [rule("*", "1s", 2), rule("*", "1m", 5)]
  },
  ipRateLimitPolicies: {
    ipRules: [
      { ip: "84.247.85.224", rules: [rule("*", "1s", 10), rule("*", "1m", 2), rule("post:/api/values", "1m", 5)] },
      { ip: "84.247.85.225", rules: [rule("*", "1s", 10), rule("*", "1m", 5), rule("*", "1h", 2)] },
      { ip: "84.247.85.226", rules: [rule("*", "1s", 10), rule("*", "1m", 5), rule("*", "1d", 2)] },
      { ip: "84.247.85.231", rules: [rule("*", "1m", 0)] }
    ]
  }
}

/** The configuration that its documentation begins with. */
const documented: Sections = {
  ipRateLimiting: {
    enableEndpointRateLimiting: false,
    stackBlockedRequests: false,
    ipWhitelist: ["127.0.0.1", "::1/10", "192.168.0.0/24"],
    endpointWhitelist: ["get:/api/license", "*:/api/status"],
    clientWhitelist: ["dev-id-1", "dev-id-2"],
    generalRules: [rule("*", "1s", 2), rule("*", "15m", 100), rule("*", "12h", 1000), rule("*", "7d", 10000)]
  },
  ipRateLimitPolicies: {
    ipRules: [
      { ip: "84.247.85.224", rules: [rule("*", "1s", 10), rule("*", "15m", 200)] },
      { ip: "192.168.3.22/25", rules: [rule("*", "1s", 5), rule("*", "15m", 150), rule("*", "12h", 500)] }
    ]
  }
}

const examples: ReadonlyArray<Example> = [
  {
    name: "limits apply globally when endpoint rate limiting is off",
    ipRateLimiting: { generalRules: [rule("*", "1s", 5)] },
    steps: [
      { send: "GET /api/values", times: 3, allowed: ["1s", "2", at("00:00:01.000")] },
      { send: "PUT /api/other", times: 2, allowed: ["1s", "0", at("00:00:01.000")] },
      { send: "DELETE /", refused: [1, "5 per 1s"] }
    ]
  },
  {
    name: "rules for an endpoint do not apply when endpoint rate limiting is off",
    ipRateLimiting: { generalRules: [rule("*:/api/values", "1s", 1), rule("get:*", "1m", 1)] },
    steps: [{ send: "GET /api/values", times: 10, allowed: "without headers" }]
  },
  {
    name: "a limit for *:/api/values applies to each verb by itself",
    ipRateLimiting: { ...perEndpoint, generalRules: [rule("*:/api/values", "1s", 5)] },
    steps: [
      { send: "GET /api/values", times: 5, allowed: ["1s", "0", at("00:00:01.000")] },
      { send: "PUT /api/values", times: 5, allowed: ["1s", "0", at("00:00:01.000")] },
      { send: "GET /api/values", refused: [1, "5 per 1s"] },
      { send: "PUT /api/values", refused: [1, "5 per 1s"] }
    ]
  },
  {
    name: "all endpoints have 2 calls per second, each by itself",
    ipRateLimiting: { ...perEndpoint, generalRules: [rule("*", "1s", 2)] },
    steps: [
      { send: "GET /api/values", times: 2, allowed: ["1s", "0", at("00:00:01.000")] },
      { send: "GET /api/values", refused: [1, "2 per 1s"] },
      { send: "PUT /api/values", allowed: ["1s", "1", at("00:00:01.000")] },
      { after: "999 millis", send: "GET /api/values", refused: [1, "2 per 1s"] },
      { after: "1 millis", send: "GET /api/values", allowed: ["1s", "1", at("00:00:02.000")] }
    ]
  },
  {
    name: "calls with any verb to /api/values have 5 calls per 15 minutes",
    ipRateLimiting: { ...perEndpoint, generalRules: [rule("*:/api/values", "15m", 5)] },
    steps: [
      { send: "GET /api/values", times: 5, allowed: ["15m", "0", at("00:15:00.000")] },
      { after: "10 minutes", send: "GET /api/values", refused: [300, "5 per 15m"] },
      { send: "GET /api/values/1", allowed: "without headers" }
    ]
  },
  {
    name: "GET calls to /api/values have 5 calls per hour",
    ipRateLimiting: { ...perEndpoint, generalRules: [rule("get:/api/values", "1h", 5)] },
    steps: [
      { send: "GET /api/values", times: 5, allowed: ["1h", "0", at("01:00:00.000")] },
      { send: "GET /api/values", refused: [3600, "5 per 1h"] },
      { send: "GET /api/values/1", times: 6, allowed: "without headers" },
      { send: "PUT /api/values", times: 6, allowed: "without headers" }
    ]
  },
  {
    name: "rejected calls do not count towards other limits",
    ipRateLimiting: { generalRules: [rule("*", "1s", 1), rule("*", "1m", 4)] },
    steps: [
      { send: "GET /", allowed: ["1m", "3", at("00:01:00.000")] },
      { send: "GET /", times: 2, refused: [1, "1 per 1s"] },
      { after: "1 second", send: "GET /", allowed: ["1m", "2", at("00:01:00.000")] }
    ]
  },
  {
    name: "rejected calls count towards other limits when they are stacked",
    ipRateLimiting: { stackBlockedRequests: true, generalRules: [rule("*", "1s", 1), rule("*", "1m", 4)] },
    steps: [
      { send: "GET /", allowed: ["1m", "3", at("00:01:00.000")] },
      { send: "GET /", times: 2, refused: [1, "1 per 1s"] },
      { after: "1 second", send: "GET /", allowed: ["1m", "0", at("00:01:00.000")] },
      { after: "1 second", send: "GET /", refused: [58, "4 per 1m"] }
    ]
  },
  {
    name: "the answer names the wait, here 58 seconds",
    ipRateLimiting: { generalRules: [rule("*", "1m", 2)] },
    steps: [
      { send: "GET /", times: 2, allowed: ["1m", "0", at("00:01:00.000")] },
      { after: "2 seconds", send: "GET /", refused: [58, "2 per 1m"] }
    ]
  },
  {
    name: "a window starts at the first request, and not on the clock",
    ipRateLimiting: { generalRules: [rule("*", "1m", 1)] },
    steps: [
      { after: "90 seconds", send: "GET /", allowed: ["1m", "0", at("00:02:30.000")] },
      { after: "59500 millis", send: "GET /", refused: [1, "1 per 1m"] },
      { after: "500 millis", send: "GET /", allowed: ["1m", "0", at("00:03:30.000")] }
    ]
  },
  {
    name: "headers tell of the longest period, and 12 hours and 7 days are periods",
    ...documented,
    steps: [{ send: "GET /api/values", times: 2, allowed: ["7d", "9998", "1970-01-08T00:00:00.000Z"] }]
  },
  {
    name: "rules for an IP replace general rules of the same period, and the others stay",
    ...documented,
    steps: [
      { send: "GET /", from: "84.247.85.224", times: 10, allowed: ["7d", "9990", "1970-01-08T00:00:00.000Z"] },
      { send: "GET /", from: "84.247.85.224", refused: [1, "10 per 1s"] },
      { send: "GET /", from: "84.247.85.223", times: 3, passed: 2, refused: [1, "2 per 1s"] }
    ]
  },
  {
    name: "rules for a network apply to each of its addresses by itself",
    ...documented,
    steps: [
      { send: "GET /", from: "192.168.3.1", times: 6, passed: 5, refused: [1, "5 per 1s"] },
      { send: "GET /", from: "192.168.3.127", times: 5, allowed: ["7d", "9995", "1970-01-08T00:00:00.000Z"] },
      { send: "GET /", from: "192.168.3.128", times: 3, passed: 2, refused: [1, "2 per 1s"] }
    ]
  },
  {
    name: "white lists of clients, addresses and endpoints have no limit",
    ...documented,
    steps: [
      { send: "GET /a", from: "127.0.0.1", times: 5, allowed: "without headers" },
      { send: "GET /a", from: "::1", times: 5, allowed: "without headers" },
      { send: "GET /a", from: "::ffff:192.168.0.99", times: 5, allowed: "without headers" },
      { send: "GET /api/license", times: 5, allowed: "without headers" },
      { send: "POST /api/STATUS/", times: 5, allowed: "without headers" },
      { send: "GET /a", clientId: "dev-id-1", times: 5, allowed: "without headers" },
      { send: "GET /a", clientId: "dev-id-3", times: 2, allowed: ["7d", "9998", "1970-01-08T00:00:00.000Z"] },
      { send: "POST /api/license", refused: [1, "2 per 1s"] }
    ]
  },
  {
    name: "of several rules for one period the most restrictive applies",
    ipRateLimiting: {
      ...perEndpoint,
      generalRules: [rule("*", "1m", 5), rule("get:/api/*", "1m", 2), rule("*:/api/values", "60s", 3)]
    },
    steps: [
      { send: "GET /api/values", times: 3, passed: 2, refused: [60, "2 per 1m"] },
      { send: "PUT /api/values", times: 4, passed: 3, refused: [60, "3 per 60s"] },
      { send: "PUT /api/parts", times: 6, passed: 5, refused: [60, "5 per 1m"] }
    ]
  },
  {
    name: "global and endpoint rules mix: 1000 calls per hour, and one per second to /api/values",
    ipRateLimiting: { ...perEndpoint, generalRules: [rule("*", "1h", 1000), rule("*:/api/values", "1s", 1)] },
    steps: [
      { send: "GET /api/values", allowed: ["1h", "999", at("01:00:00.000")] },
      { send: "GET /api/values", refused: [1, "1 per 1s"] },
      { send: "GET /api/other", times: 1000, allowed: ["1h", "0", at("01:00:00.000")] },
      { send: "GET /api/other", refused: [3600, "1000 per 1h"] }
    ]
  },
  {
    name: "SpecificIpRule, by minute, hour and day",
    ...demo,
    steps: [
      { send: "GET /api/values/", from: "84.247.85.224", times: 3, passed: 2, refused: [60, "2 per 1m"] },
      { send: "GET /api/values/", from: "84.247.85.225", times: 3, passed: 2, refused: [3600, "2 per 1h"] },
      { send: "GET /api/values/", from: "84.247.85.226:6555", times: 3, passed: 2, refused: [86400, "2 per 1d"] }
    ]
  },
  {
    name: "GlobalIpRule",
    ...demo,
    steps: [
      { send: "GET /api/values/", from: "84.247.85.228", times: 4, passed: 2, refused: [1, "2 per 1s"] },
      {
        after: "1 second",
        send: "GET /api/values/",
        from: "84.247.85.228",
        times: 2,
        allowed: ["1m", "1", at("00:01:00.000")]
      },
      {
        after: "1 second",
        send: "GET /api/values/",
        from: "84.247.85.228",
        times: 2,
        passed: 1,
        refused: [58, "5 per 1m"]
      }
    ]
  },
  {
    name: "GlobalIpLimitZeroRule",
    ...demo,
    steps: [{ send: "GET /api/values/", from: "84.247.85.231", refused: [2147483647, "0 per 1m"] }]
  },
  {
    name: "WhitelistIp, WhitelistPath, WhitelistRootPath and WhitelistClient",
    ...demo,
    steps: [
      { send: "GET /api/values/", from: "::1", times: 4, allowed: "without headers" },
      { send: "DELETE /api/values/", from: "84.247.85.229", times: 4, allowed: "without headers" },
      { send: "GET /", from: "84.247.85.229", times: 4, allowed: "without headers" },
      { send: "GET /api/values/", from: "84.247.85.230", clientId: "cl-key-1", times: 4, allowed: "without headers" }
    ]
  },
  {
    name: "SpecificPathRule",
    ...demo,
    steps: [
      { send: "GET /api/values/", from: "84.247.85.227", times: 4, passed: 2, refused: [1, "2 per 1s"] },
      { send: "POST /api/values/", from: "84.247.85.227", times: 4, passed: 2, refused: [1, "2 per 1s"] },
      { send: "PUT /api/values/", from: "84.247.85.227", times: 4, passed: 2, refused: [1, "2 per 1s"] }
    ]
  },
  {
    name: "the shipped example",
    ipRateLimiting: { ...perEndpoint, generalRules: [rule("*", "1s", 50)] },
    steps: [
      { send: "GET /health/liveness", times: 50, allowed: ["1s", "0", at("00:00:01.000")] },
      { send: "GET /health/liveness", refused: [1, "50 per 1s"] }
    ]
  }
]

describe("AspNetCoreRateLimit", () => {
  for (const { name, steps, ...sections } of examples) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const limiter = yield* make(sections)
        for (const [i, step] of steps.entries()) {
          if (step.after !== undefined) yield* TestClock.adjust(step.after as `${number} millis`)
          const headers = step.clientId === undefined ? {} : { "x-clientid": step.clientId }
          const check = limiter.check(request(step.send, step.from, headers))
          const decisions = yield* Effect.replicateEffect(check, step.times ?? 1)
          const decision = decisions.at(-1)!
          const actual: unknown = decision.isAllowed
            ? {
                allowed:
                  decision.headers === undefined
                    ? "without headers"
                    : ["limit", "remaining", "reset"].map((name) => decision.headers![`x-rate-limit-${name}`])
              }
            : {
                refused: [
                  Number(decision.headers["retry-after"]),
                  /^API calls quota exceeded! maximum admitted (.*)\.$/.exec(decision.detail)?.[1]
                ]
              }
          const { allowed, passed = allowed === undefined ? 0 : decisions.length, refused } = step
          assert.deepStrictEqual(actual, allowed === undefined ? { refused } : { allowed }, `step ${i}: ${step.send}`)
          assert.strictEqual(decisions.filter(({ isAllowed }) => isAllowed).length, passed, `step ${i}: ${step.send}`)
        }
      })
    )
  }
})
