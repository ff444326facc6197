/** A server that restarts again and again under many readers and writers: none of them notices. */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as diagnostics from "node:diagnostics_channel"
import { CredentialStorage, samples } from "./support/Credentials.ts"
import { numbered } from "./support/numbered.ts"
import { Server, storage } from "./support/Server.ts"
import { until } from "./support/until.ts"
import { revealed } from "./SecretStorageTest.ts"

const workers = 64
const restarts = 5

it.live(`the secret server restarts ${restarts} times under ${workers} concurrent readers and writers`, () => {
  let lost = 0
  const onError = () => void lost++
  const counting = Effect.acquireRelease(
    Effect.sync(() => diagnostics.subscribe("undici:request:error", onError)),
    () => Effect.sync(() => diagnostics.unsubscribe("undici:request:error", onError))
  )

  return Effect.gen(function* () {
    yield* counting
    const server = yield* Server
    const store = yield* CredentialStorage
    const state = { round: 0, steps: Array.from({ length: workers }, () => 0) }

    /** Changes a secret of its own, and reads what it wrote. */
    const work = (worker: number) =>
      Effect.gen(function* () {
        const isTotp = worker % 2 === 0
        const secret = (number: number) =>
          isTotp ? { ...samples.UsernamePasswordTotp, password: Redacted.make(String(number)) } : numbered(number)
        const id = yield* store.create("ApiKeys", secret(0))
        let last = 0
        while (state.round < restarts) {
          // A write whose answer was lost is known again, so that its own version is no conflict.
          yield* store.update(id, secret(++last), { expectedVersion: worker % 8 < 4 ? last : undefined })
          const { password } = revealed(yield* store.get(id)) as { readonly password: string }
          expect(password).toBe(Redacted.value(secret(last).password))
          state.steps[worker]! += 1
        }
        if (worker % 4 < 2) yield* store.delete(id)
        return { id, isTotp, isDeleted: worker % 4 < 2, versions: last + 1 }
      })

    const restart = Effect.gen(function* () {
      for (; state.round < restarts; state.round++) {
        // Everyone has gone on since the last restart, so that none meets more of them than a request is repeated.
        const before = [...state.steps]
        yield* until(() => state.steps.every((steps, worker) => steps > before[worker]!))
        yield* Effect.promise(() => server.stop())
        const lostBefore = lost
        yield* until(() => lost >= lostBefore + workers / 2)
        yield* Effect.promise(() => server.start())
      }
    })

    const all = Effect.forEach(
      Array.from({ length: workers }, (_, i) => i),
      work,
      { concurrency: "unbounded" }
    )
    const [results] = yield* Effect.all([all, restart], { concurrency: 2 })

    const left = results.filter(({ isDeleted }) => !isDeleted)
    expect(server.documents.size).toBe(left.length)
    expect(server.keys.size).toBe(left.filter(({ isTotp }) => isTotp).length)
    for (const { id, versions } of left) {
      // No write was lost, and none was done twice.
      expect(server.documents.get(`Credentials/ApiKeys/${id.id}`)).toHaveLength(versions)
    }
    expect(lost).toBeGreaterThanOrEqual((restarts * workers) / 2)
  }).pipe(Effect.provide(storage()))
})
