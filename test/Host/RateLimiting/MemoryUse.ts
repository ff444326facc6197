/**
 * A process of its own, since other tests leave garbage: says what memory a limiter's table takes, and what more the
 * process takes once so many clients have come by, each with a request of its own. Needs --expose-gc.
 */
import * as Effect from "effect/Effect"
import { make } from "./limiter.ts"

const clients = Number(process.argv[2])

const used = () => {
  globalThis.gc!()
  const { arrayBuffers, heapUsed, rss } = process.memoryUsage()
  return { arrayBuffers, heapUsed, rss }
}

const program = Effect.gen(function* () {
  const before = used()
  const limiter = yield* make({
    ipRateLimiting: {
      enableEndpointRateLimiting: true,
      generalRules: [
        { endpoint: "*", period: "1h", limit: 5 },
        { endpoint: "post:*", period: "1d", limit: 9 }
      ]
    },
    ipRateLimitPolicies: { ipRules: [{ ip: "10.0.0.0/9", rules: [{ endpoint: "*", period: "1h", limit: 6 }] }] }
  })
  const send = (i: number) => {
    const words = [i >>> 16, i & 0xffff]
    return limiter.check({
      method: "POST",
      url: `/${i}`,
      // Half of them by IPv4, half of them with a network of IPv6 each.
      clientAddress:
        i % 2 === 0
          ? `10.${(i >>> 16) & 255}.${(i >>> 8) & 255}.${i & 255}`
          : `2001:db8:${words.map((word) => word.toString(16)).join(":")}::1`,
      headers: {}
    })
  }
  yield* send(0)
  const table = used()
  let rssAtMost = before.rss
  for (let i = 1; i <= clients; i++) {
    yield* send(i)
    if (i % 10_000 === 0) rssAtMost = Math.max(rssAtMost, process.memoryUsage.rss())
  }
  const after = used()
  return {
    table: table.arrayBuffers - before.arrayBuffers,
    growth: after.arrayBuffers - table.arrayBuffers + after.heapUsed - table.heapUsed,
    process: rssAtMost - before.rss
  }
})

process.stdout.write(JSON.stringify(await Effect.runPromise(Effect.scoped(program))))
