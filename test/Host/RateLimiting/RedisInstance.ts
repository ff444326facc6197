/**
 * An instance of a service that counts in Redis, as a process: says that it is ready, waits for a line, sends requests, and
 * says how many of them were allowed.
 */
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { make, request, type Sections } from "./limiter.ts"

const [sections, times] = process.argv.slice(2) as [string, string]

const program = Effect.gen(function* () {
  const limiter = yield* make(JSON.parse(sections) as Sections)
  process.stdout.write("ready\n")
  yield* Effect.promise(() => once(process.stdin, "data"))
  const checks = Array.from({ length: Number(times) }, () => limiter.check(request("GET /")))
  const decisions = yield* Effect.all(checks, { concurrency: 50 })
  process.stdout.write(`${decisions.filter(({ isAllowed }) => isAllowed).length}\n`)
})

await Effect.runPromise(Effect.scoped(program))
process.stdin.destroy()
