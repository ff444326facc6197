import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import { isDeepStrictEqual } from "node:util"
import * as CompiledApi from "../../../src/Host/FastPath/CompiledApi.ts"
import * as Middleware from "../../../src/Plugins/Middleware.ts"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import { isFull, sized, timeout } from "../../support/Campaign.ts"
import { Given, plugins } from "./support/everything.ts"
import { requests, type Sent } from "./support/requests.ts"

const giving = Plugin.make({
  id: "giving",
  middleware: [
    Middleware.make({
      name: "giving",
      build: Effect.succeed((handler) => Effect.provideService(handler, Given, "middleware"))
    })
  ]
})

/** Everything that a client, or whoever reads the log, sees of an answer. */
const observe = Effect.fnUntraced(function* (host: TestHost.Service, sent: Sent) {
  const before = (yield* host.log.lines).length
  // A string would be given a type.
  const body = sent.init.body === undefined ? undefined : new TextEncoder().encode(sent.init.body)
  const init = { ...sent.init, ...(body === undefined ? undefined : { body }) }
  const { headers, status, text } = yield* host.request(sent.path, init)
  const lines = (yield* host.log.lines).slice(before)
  // The two may answer in different seconds.
  return { status, headers: { ...Object.fromEntries(headers), date: undefined }, text, lines }
})

/** What the host counted, by route and status. */
const counted = (host: TestHost.Service) =>
  Effect.map(host.metrics, (snapshots) =>
    snapshots.filter(({ id }) => id.startsWith("http")).map(({ attributes, id, state }) => ({ id, attributes, state }))
  )

describe("the fast path", () => {
  for (const { listen, name, others, runs } of [
    { name: "a host that listens", others: [], listen: true, runs: sized(40_000, 2_000) },
    { name: "a host in memory", others: [], listen: false, runs: sized(40_000, 1_000) },
    { name: "a host with middleware", others: [giving], listen: true, runs: sized(40_000, 1_000) }
  ]) {
    it.effect(
      `answers, logs and counts as Effect's own runtime does, in ${name}`,
      () =>
        Effect.gen(function* () {
          const make = TestHost.make([...plugins, ...others], { listen })
          const fast = yield* make
          const stock = yield* Effect.provideService(make, CompiledApi.IsEnabled, false)
          const statuses = new Set<number>()
          const checked = yield* Arbitrary.checkEffect(
            requests,
            (sent) =>
              Effect.gen(function* () {
                const expected = yield* observe(stock, sent)
                const actual = yield* observe(fast, sent)
                statuses.add(expected.status)
                return isDeepStrictEqual(actual, expected) || (yield* Effect.fail({ actual, expected }))
              }),
            // A full campaign draws anew each time.
            { runs, size: 20, ...(isFull ? undefined : { seed: "fast path" }) }
          )
          assert.isUndefined(Arbitrary.formatCheckFailure(checked))
          for (const status of [200, 201, 202, 204, 299, 400, 401, 404, 405, 406, 409, 410, 415, 418, 500, 503]) {
            assert.isTrue(statuses.has(status), `Nothing was answered with ${status}`)
          }
          assert.deepStrictEqual(yield* counted(fast), yield* counted(stock))
        }),
      timeout
    )
  }
})
