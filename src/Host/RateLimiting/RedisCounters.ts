/**
 * Counts requests in Redis: one limit for all instances that share it.
 *
 * Each request is one run of a script, which Redis runs by itself, so that no two instances count past each other. A
 * counter is a hash that says when its window ends, by Redis's own clock, and expires then.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { createHash } from "node:crypto"
import type { Count, Counted, CounterStore, CounterStoreOptions } from "./CounterStore.ts"
import * as RedisConnection from "./RedisConnection.ts"

/** How Redis is reached, and what its keys are called. */
export interface RedisCountersOptions extends CounterStoreOptions {
  readonly url: Redacted.Redacted<string>
  readonly prefix: string
  /** How long a request waits for Redis. */
  readonly timeout: Duration.Duration
}

/**
 * KEYS: a counter for each rule, the shortest period first.
 * ARGV: 1 where refused requests count, then the limit and the period of each rule.
 * Answers which rule refuses (0 for none), and of that rule or of the last one the requests, the rest of the window, and
 * its end.
 */
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local requests, ends, refusing = {}, {}, 0
for i, key in ipairs(KEYS) do
  local counter = redis.call('HMGET', key, 'requests', 'end')
  ends[i] = tonumber(counter[2] or 0)
  requests[i] = ends[i] > now and tonumber(counter[1]) or 0
  if requests[i] >= tonumber(ARGV[2 * i]) and (refusing == 0 or ends[i] >= ends[refusing]) then refusing = i end
end
if refusing == 0 or ARGV[1] == '1' then
  for i, key in ipairs(KEYS) do
    requests[i] = requests[i] + 1
    if ends[i] > now then
      redis.call('HINCRBY', key, 'requests', 1)
    else
      ends[i] = now + tonumber(ARGV[2 * i + 1])
      redis.call('HSET', key, 'requests', 1, 'end', ends[i])
      redis.call('PEXPIREAT', key, ends[i])
    end
  end
end
local told = refusing == 0 and #KEYS or refusing
return { refusing, requests[told], ends[told] - now, ends[told] }
`

/** Follows the prefix in every key. Counters of another form, such as the plain numbers of versions before, have other keys. */
const form = "2:"

type Reply = readonly [refusing: number, requests: number, endsIn: number, endsAt: number]

/**
 * A store in the Redis at a URL. Waits for the first attempt to reach it, and not for its success: while Redis is away
 * nothing is counted. Ends its connection with the scope.
 */
export const make = Effect.fnUntraced(function* (
  options: RedisCountersOptions
): Effect.fn.Return<CounterStore, never, Scope.Scope> {
  const connection = yield* RedisConnection.make({
    url: options.url,
    script,
    // Shows that the script runs and may write, which it always does where refused requests count.
    trial: ["1", `${options.prefix}${form}trial`, "1", "1", "1000"]
  })
  const timeout = Duration.toMillis(options.timeout)
  // The last part of the wait: where this process itself was busy all the time before, Redis still has this to reply.
  const grace = timeout / 4
  const stack = options.stackBlockedRequests ? "1" : "0"

  const count = (counted: Counted): Effect.Effect<Count | undefined> =>
    Effect.callback((resume) => {
      const session = connection.current()
      if (session === undefined) return resume(Effect.undefined)
      let isAnswered = false
      const answer = (count: Count | undefined) => {
        isAnswered = true
        clearTimeout(timer)
        resume(Effect.succeed(count))
      }
      const giveUp = (cause: unknown) => {
        session.lose(cause)
        answer(undefined)
      }
      const late = () => {
        if (!isAnswered) giveUp(new Error(`no reply within ${timeout} ms`))
      }
      let timer = setTimeout(() => {
        // A reply that is there already is read first.
        timer = setTimeout(() => setImmediate(late), grace)
      }, timeout - grace)
      session
        .run(argumentsOf(counted, options.prefix, stack))
        .then((reply) => answer(countOf(counted, reply as Reply)), giveUp)
    })
  return { count }
})

const argumentsOf = ({ client, endpoint, rules }: Counted, prefix: string, stack: string): ReadonlyArray<string> => {
  const name = endpoint.length <= 200 ? endpoint : createHash("sha256").update(endpoint).digest("hex")
  // In braces what keeps the keys of one script together where Redis is a cluster.
  const keys = rules.map(({ period }) => `${prefix}${form}{${client}}:${period}:${name}`)
  return [String(rules.length), ...keys, stack, ...rules.flatMap((rule) => [`${rule.limit}`, `${rule.periodMillis}`])]
}

const countOf = ({ rules }: Counted, [refusing, requests, endsIn, endsAt]: Reply): Count => ({
  isAllowed: refusing === 0,
  rule: rules[(refusing === 0 ? rules.length : refusing) - 1]!,
  requests,
  endsIn,
  endsAt
})
