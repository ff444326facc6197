import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as TestClock from "effect/testing/TestClock"
import * as MemoryBackend from "../../src/SecretStore/MemoryBackend.ts"
import { SecretBackend } from "../../src/SecretStore/SecretBackend.ts"
import * as SecretCache from "../../src/SecretStore/SecretCache.ts"
import {
  SecretAccessDenied,
  SecretBackendUnavailable,
  SecretCorrupt
} from "../../src/SecretStore/SecretStorageError.ts"
import { revealed, suite } from "./SecretStorageTest.ts"
import { CredentialStorage, login, samples } from "./support/Credentials.ts"
import { recordingTracer } from "./support/RecordingEye.ts"

const options: SecretCache.Options = {
  timeToLive: Duration.seconds(10),
  staleFor: Duration.seconds(60),
  capacity: 100
}

suite("memory with a cache", Layer.provide(SecretCache.layer(options), MemoryBackend.layer()))

/** The backend behind the cache: how often it was read, and what comes in the way of a read. */
class Behind extends Context.Service<
  Behind,
  {
    reads: number
    before: Effect.Effect<void, SecretBackendUnavailable | SecretAccessDenied | SecretCorrupt>
    after: Effect.Effect<void>
    readonly backend: SecretBackend["Service"]
  }
>()("test/Behind") {
  static readonly layer = Layer.effect(
    Behind,
    SecretBackend.useSync((backend) => ({ reads: 0, before: Effect.void, after: Effect.void, backend }))
  ).pipe(Layer.provide(MemoryBackend.layer()))
}

const observed = Layer.effect(
  SecretBackend,
  Behind.useSync((behind) => ({
    ...behind.backend,
    get: Effect.fnUntraced(function* (location) {
      behind.reads++
      yield* behind.before
      const secret = yield* behind.backend.get(location)
      yield* behind.after
      return secret
    })
  }))
)

const storage = (change: Partial<SecretCache.Options> = {}) =>
  CredentialStorage.layer.pipe(
    Layer.provide(SecretCache.layer({ ...options, ...change })),
    Layer.provide(observed),
    Layer.provideMerge(Behind.layer)
  )

const away = new SecretBackendUnavailable({ operation: "read a secret", reason: "it is away" })

/** The stale reads that were counted. */
const counted = Effect.map(Metric.snapshot, (snapshots) =>
  snapshots.flatMap((snapshot) =>
    snapshot.id === "layerhost.secret.stale_reads" && snapshot.type === "Counter"
      ? [[snapshot.attributes, snapshot.state.count]]
      : []
  )
)

describe("SecretCache", () => {
  it.effect("asks once in the time to live, and again after it", () =>
    Effect.gen(function* () {
      const [behind, store] = [yield* Behind, yield* CredentialStorage]
      const id = yield* store.create("ApiKeys", login("1"))
      for (let i = 0; i < 3; i++) expect(revealed(yield* store.get(id))).toEqual(revealed(login("1")))
      expect(behind.reads).toBe(1)
      yield* behind.backend.update({ bucketSet: "Credentials", id }, login("by another"))
      yield* TestClock.adjust("9999 millis")
      expect(revealed(yield* store.get(id))).toEqual(revealed(login("1")))
      yield* TestClock.adjust("1 millis")
      expect(revealed(yield* store.get(id))).toEqual(revealed(login("by another")))
      expect(behind.reads).toBe(2)
    }).pipe(Effect.provide(storage()))
  )

  it.effect("reads what this instance wrote", () =>
    Effect.gen(function* () {
      const store = yield* CredentialStorage
      const id = yield* store.create("ApiKeys", login("1"))
      yield* store.get(id)
      yield* store.update(id, login("2"))
      expect(revealed(yield* store.get(id))).toEqual(revealed(login("2")))
      yield* store.restore(id, 1)
      expect(revealed(yield* store.get(id))).toEqual(revealed(login("1")))
      yield* store.delete(id)
      expect((yield* Effect.flip(store.get(id)))._tag).toBe("SecretNotFound")
    }).pipe(Effect.provide(storage()))
  )

  it.effect("keeps nothing of a read that a write overtook", () =>
    Effect.gen(function* () {
      const [behind, store] = [yield* Behind, yield* CredentialStorage]
      const id = yield* store.create("ApiKeys", login("1"))
      const [arrived, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      behind.after = Effect.andThen(Deferred.succeed(arrived, undefined), Deferred.await(goOn))
      const reading = yield* Effect.forkChild(store.get(id))
      yield* Deferred.await(arrived)
      yield* store.update(id, login("2"))
      yield* Deferred.succeed(goOn, undefined)
      expect(revealed(yield* Fiber.join(reading))).toEqual(revealed(login("1")))
      expect(revealed(yield* store.get(id))).toEqual(revealed(login("2")))
    }).pipe(Effect.provide(storage()))
  )

  it.effect("never keeps a one-time password, nor an absence", () =>
    Effect.gen(function* () {
      const [behind, store] = [yield* Behind, yield* CredentialStorage]
      const id = yield* store.create("ApiKeys", samples.UsernamePasswordTotp)
      yield* store.get(id)
      yield* store.get(id)
      expect(behind.reads).toBe(2)
      behind.before = away
      expect((yield* Effect.flip(store.get(id)))._tag).toBe("SecretBackendUnavailable")

      behind.before = Effect.void
      const gone = yield* store.create("ApiKeys", login("1"))
      yield* store.delete(gone)
      for (let i = 0; i < 2; i++) expect((yield* Effect.flip(store.get(gone)))._tag).toBe("SecretNotFound")
      expect(behind.reads).toBe(5)
    }).pipe(Effect.provide(storage()))
  )

  it.effect("gives what it knows while the backend is away, for so long, marked in the span and counted", () => {
    const { layer, spans } = recordingTracer()
    return Effect.gen(function* () {
      const [behind, store] = [yield* Behind, yield* CredentialStorage]
      const id = yield* store.create("ApiKeys", login("1"))
      const never = yield* store.create("ApiKeys", login("2"))
      yield* store.get(id)
      behind.before = away
      yield* TestClock.adjust("5 seconds")
      yield* store.get(id)
      expect(spans.at(-1)!.attributes.has("secret.stale")).toBe(false)

      yield* TestClock.adjust("5 seconds")
      expect(revealed(yield* store.get(id))).toEqual(revealed(login("1")))
      expect(behind.reads).toBe(2)
      // It is known to be away, and not asked again for every read.
      yield* store.get(id)
      expect(behind.reads).toBe(2)
      expect(spans.slice(-2).map(({ attributes }) => attributes.get("secret.stale"))).toEqual([true, true])
      expect(yield* counted).toEqual([[{ backend: "memory", type: "UsernamePassword" }, 2]])
      expect(yield* Effect.flip(store.get(never))).toBe(away)

      yield* TestClock.adjust("10 seconds")
      yield* store.get(id)
      expect(behind.reads).toBe(4)
      yield* TestClock.adjust("50 seconds")
      expect(yield* Effect.flip(store.get(id))).toBe(away)

      behind.before = Effect.void
      expect(revealed(yield* store.get(id))).toEqual(revealed(login("1")))
      expect(spans.at(-1)!.attributes.has("secret.stale")).toBe(false)
      expect(yield* counted).toEqual([[{ backend: "memory", type: "UsernamePassword" }, 3]])
    }).pipe(
      Effect.provide(storage()),
      Effect.provide(layer),
      Effect.provideContext(Context.make(Metric.MetricRegistry, new Map()))
    )
  })

  it.effect.each([
    new SecretAccessDenied({ operation: "read a secret", reason: "the token is over" }),
    new SecretCorrupt({ id: "id", reason: "it is not JSON" })
  ])("gives nothing stale for %s, and forgets what it had", (error) =>
    Effect.gen(function* () {
      const [behind, store] = [yield* Behind, yield* CredentialStorage]
      const id = yield* store.create("ApiKeys", login("1"))
      yield* store.get(id)
      yield* TestClock.adjust("10 seconds")
      behind.before = error
      expect(yield* Effect.flip(store.get(id))).toBe(error)
      behind.before = away
      expect(yield* Effect.flip(store.get(id))).toBe(away)
    }).pipe(Effect.provide(storage()))
  )

  it.effect("without a time for stale secrets, gives none", () =>
    Effect.gen(function* () {
      const [behind, store] = [yield* Behind, yield* CredentialStorage]
      const id = yield* store.create("ApiKeys", login("1"))
      yield* store.get(id)
      behind.before = away
      yield* TestClock.adjust("10 seconds")
      expect(yield* Effect.flip(store.get(id))).toBe(away)
    }).pipe(Effect.provide(storage({ staleFor: Duration.zero })))
  )

  it.effect("keeps as many as it may, the newest", () =>
    Effect.gen(function* () {
      const [behind, store] = [yield* Behind, yield* CredentialStorage]
      const ids = yield* Effect.forEach(["1", "2", "3"], (password) => store.create("ApiKeys", login(password)))
      for (const id of ids) yield* store.get(id)
      for (const id of ids.slice(1)) yield* store.get(id)
      expect(behind.reads).toBe(3)
      yield* store.get(ids[0]!)
      expect(behind.reads).toBe(4)
    }).pipe(Effect.provide(storage({ capacity: 2 })))
  )
})
