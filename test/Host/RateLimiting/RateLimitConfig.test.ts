import { assert, layer as withLayer } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Configuration from "../../../src/Host/Configuration/Configuration.ts"
import { decode } from "../../../src/Host/Configuration/Decode.ts"
import { RateLimitConfig, RateLimitPolicies, RateLimitRedis } from "../../../src/Host/RateLimiting/RateLimitConfig.ts"
import { layer } from "../Configuration/support.ts"

const decodeAll = Effect.fnUntraced(function* (values: Record<string, unknown>) {
  const { services, warnings } = yield* decode(
    yield* Configuration.load({ values }),
    [RateLimitConfig, RateLimitRedis, RateLimitPolicies].map((section) => ({ section, owner: "layerhost/Host" }))
  )
  return {
    config: services.mapUnsafe.get(RateLimitConfig.key) as (typeof RateLimitConfig)["Service"],
    redis: services.mapUnsafe.get(RateLimitRedis.key) as (typeof RateLimitRedis)["Service"],
    policies: services.mapUnsafe.get(RateLimitPolicies.key) as (typeof RateLimitPolicies)["Service"],
    warnings
  }
})

const rule = { endpoint: "*", period: "1s", limit: 50 }

withLayer(layer)((test) => {
  test.effect("has no rule by default", () =>
    Effect.gen(function* () {
      const { config, policies, redis } = yield* decodeAll({})
      assert.deepStrictEqual(config, {
        enableEndpointRateLimiting: false,
        stackBlockedRequests: false,
        httpStatusCode: 429,
        ipWhitelist: [],
        endpointWhitelist: [],
        clientIdHeader: "X-ClientId",
        clientWhitelist: [],
        generalRules: [],
        quotaExceededMessage: "API calls quota exceeded! maximum admitted {0} per {1}.",
        disableRateLimitHeaders: false,
        store: "memory"
      })
      assert.strictEqual(Redacted.value(redis.url), "redis://127.0.0.1:6379")
      assert.strictEqual(redis.prefix, "layerhost:rate-limit:")
      assert.deepStrictEqual(redis.timeout, Duration.millis(40))
      assert.deepStrictEqual(policies, { ipRules: [] })
    })
  )

  test.effect("takes the keys of AspNetCoreRateLimit in any case, and texts for values", () =>
    Effect.gen(function* () {
      const { config, policies, warnings } = yield* decodeAll({
        IpRateLimiting: {
          EnableEndpointRateLimiting: "True",
          HttpStatusCode: "503",
          GeneralRules: [{ Endpoint: "get:/api/*", Period: "15m", Limit: "100" }]
        },
        IpRateLimitPolicies: { IpRules: [{ Ip: "84.247.85.224", Rules: [{ Endpoint: "*", Period: "1s", Limit: 10 }] }] }
      })
      assert.isTrue(config.enableEndpointRateLimiting)
      assert.strictEqual(config.httpStatusCode, 503)
      assert.deepStrictEqual(config.generalRules, [{ endpoint: "get:/api/*", period: "15m", limit: 100 }])
      assert.deepStrictEqual(policies.ipRules, [
        { ip: "84.247.85.224", rules: [{ endpoint: "*", period: "1s", limit: 10 }] }
      ])
      assert.deepStrictEqual(warnings, [])
    })
  )

  test.effect("reports every mistake by its key", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        decodeAll({
          ipRateLimiting: {
            httpStatusCode: 200,
            ipWhitelist: ["10.0.0.0/8", "10.0.0.0/40"],
            endpointWhitelist: ["get"],
            clientIdHeader: "X ClientId",
            clientWhitelist: [""],
            generalRules: [
              rule,
              { endpoint: "fetch:/", period: "1.5s", limit: -1 },
              { endpoint: "*", period: "0s", limit: 1 }
            ],
            quotaExceededMessage: "{3}",
            quotaExceededResponse: { contentType: "text/plain\r\nx: y", content: '{"a": {0}}', statusCode: 700 },
            store: "etcd",
            redis: { url: "http://user:hunter2@redis", timeout: "soon" }
          },
          ipRateLimitPolicies: { ipRules: [{ ip: "10.0.0.9-10.0.0.1", rules: [{ ...rule, period: "1w" }] }, {}] }
        })
      )
      assert.deepStrictEqual(
        error.problems.map(({ key }) => key),
        [
          "ipRateLimiting:httpStatusCode",
          "ipRateLimiting:ipWhitelist:1",
          "ipRateLimiting:endpointWhitelist:0",
          "ipRateLimiting:clientIdHeader",
          "ipRateLimiting:clientWhitelist:0",
          "ipRateLimiting:generalRules:1:endpoint",
          "ipRateLimiting:generalRules:1:period",
          "ipRateLimiting:generalRules:1:limit",
          "ipRateLimiting:generalRules:2:period",
          "ipRateLimiting:quotaExceededMessage",
          "ipRateLimiting:quotaExceededResponse:contentType",
          "ipRateLimiting:quotaExceededResponse:content",
          "ipRateLimiting:quotaExceededResponse:statusCode",
          "ipRateLimiting:store",
          "ipRateLimiting:redis:url",
          "ipRateLimiting:redis:timeout",
          "ipRateLimitPolicies:ipRules:0:ip",
          "ipRateLimitPolicies:ipRules:0:rules:0:period",
          "ipRateLimitPolicies:ipRules:1:ip",
          "ipRateLimitPolicies:ipRules:1:rules"
        ]
      )
      assert.include(error.message, "1.5s is not a period: a whole number above 0 and s, m, h or d, at most 36525d")
      assert.include(error.message, "one of memory, redis")
      assert.include(error.message, "{0}, {1} and {2} are places, {{ and }} are braces")
      assert.include(error.message, "redis://host:port")
      assert.notInclude(error.message, "hunter2")
    })
  )

  test.effect("takes the URL of a Redis, with a password and a database, and shows no password", () =>
    Effect.gen(function* () {
      const decodeUrl = (url: string) => decodeAll({ ipRateLimiting: { redis: { url } } })
      const url = "rediss://user:hunter2@redis.example:6380/3"
      const { redis } = yield* decodeUrl(url)
      assert.strictEqual(Redacted.value(redis.url), url)
      assert.notInclude(JSON.stringify(redis), "hunter2")
      for (const wrong of ["redis", "redis://", "redis:6379", "redis://host/name", "unix:///run/redis.sock"]) {
        const error = yield* Effect.flip(decodeUrl(wrong))
        assert.deepStrictEqual(
          error.problems.map(({ key }) => key),
          ["ipRateLimiting:redis:url"]
        )
      }
    })
  )
})
