/**
 * A process of its own, since other tests leave garbage: says what memory a table takes, and what more it takes once it
 * has seen several times as many clients as it has places. Needs --expose-gc.
 */
import * as Effect from "effect/Effect"
import * as MemoryCounters from "../../../src/Host/RateLimiting/MemoryCounters.ts"

const used = () => {
  globalThis.gc!()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return { arrayBuffers, heapUsed }
}

const sets = process.argv[2] === undefined ? {} : { sets: Number(process.argv[2]) }
const clients = Number(process.argv[3] ?? 0)

const before = used()
const store = MemoryCounters.make({ stackBlockedRequests: false, ...sets })
const rules = [{ period: "1h", periodMillis: 3_600_000, limit: 5 }]
const countAll = Effect.gen(function* () {
  for (let i = 0; i < clients; i++) yield* store.count({ client: `client ${i}`, endpoint: `get:/${i}`, rules })
})

Effect.runSync(store.count({ client: "first", endpoint: "*", rules }))
const table = used()
Effect.runSync(countAll)
const after = used()
process.stdout.write(
  JSON.stringify({
    table: table.arrayBuffers - before.arrayBuffers,
    growth: after.arrayBuffers - table.arrayBuffers + after.heapUsed - table.heapUsed
  })
)
