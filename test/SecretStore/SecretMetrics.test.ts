import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as TestClock from "effect/testing/TestClock"
import * as MemoryBackend from "../../src/SecretStore/MemoryBackend.ts"
import type { SecretInput } from "../../src/SecretStore/Secret.ts"
import * as SecretMetrics from "../../src/SecretStore/SecretMetrics.ts"
import {
  SecretAccessDenied,
  SecretBackendUnavailable,
  SecretCorrupt,
  type SecretStorageError
} from "../../src/SecretStore/SecretStorageError.ts"
import { CredentialStorage, samples } from "./support/Credentials.ts"

const registry = () => Context.make(Metric.MetricRegistry, new Map())

/** `operation backend type outcome` of each series, with its count and its sum in seconds. */
const counted = Effect.map(Metric.snapshot, (snapshots) =>
  Object.fromEntries(
    snapshots.flatMap((snapshot) => {
      if (snapshot.id !== "layerhost.secret.operation.duration" || snapshot.type !== "Histogram") return []
      const { backend, operation, outcome, type, unit } = snapshot.attributes!
      expect(unit).toBe("s")
      return [[`${operation} ${backend} ${type} ${outcome}`, [snapshot.state.count, snapshot.state.sum]]]
    })
  )
)

describe("The metric of secret operations", () => {
  it.effect("counts those of a storage by operation, backend, type and outcome", () =>
    Effect.gen(function* () {
      const storage = yield* CredentialStorage
      const id = yield* storage.create("ApiKeys", samples.Certificate)
      yield* storage.get(id)
      yield* storage.get(id)
      yield* storage.update(id, samples.Certificate)
      yield* Effect.flip(storage.update(id, samples.UsernamePassword))
      yield* Effect.flip(storage.create("ApiKeys", { ...samples.Certificate, certificate: "" } as never))
      yield* Effect.flip(storage.create("ApiKeys", { type: "anything else" } as unknown as SecretInput))
      yield* storage.delete(id)
      yield* Effect.flip(storage.get(id))
      expect(yield* counted).toEqual({
        "create memory Certificate success": [1, 0],
        "get memory Certificate success": [2, 0],
        "update memory Certificate success": [1, 0],
        "update memory Certificate type_mismatch": [1, 0],
        "create memory Certificate invalid": [1, 0],
        "create memory _OTHER invalid": [1, 0],
        "delete memory Certificate success": [1, 0],
        "get memory Certificate not_found": [1, 0]
      })
    }).pipe(
      Effect.provide(CredentialStorage.layer),
      Effect.provide(MemoryBackend.layer()),
      Effect.provideContext(registry())
    )
  )

  const operation = "read a secret"
  const id = "id"
  const reason = "no"
  it.effect.each([
    [new SecretAccessDenied({ operation, reason }), "denied"],
    [new SecretBackendUnavailable({ operation, reason }), "unavailable"],
    [new SecretCorrupt({ id, reason }), "corrupt"]
  ] satisfies ReadonlyArray<[SecretStorageError, string]>)("calls %s by a word", ([error, outcome]) =>
    Effect.gen(function* () {
      yield* Effect.flip(SecretMetrics.make("server")("get", undefined, Effect.fail(error)))
      expect(yield* counted).toEqual({ [`get server undefined ${outcome}`]: [1, 0] })
    }).pipe(Effect.provideContext(registry()))
  )

  it.effect("tells how long each took, a defect and an interruption too", () =>
    Effect.gen(function* () {
      const measured = SecretMetrics.make("file")
      const certificate = { type: "Certificate" } as const
      yield* Effect.exit(measured("get", certificate, Effect.die(new Error("bug"))))
      const begun = yield* Deferred.make<void>()
      const slow = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      const fiber = yield* Effect.forkChild(measured("get", certificate, slow))
      yield* Deferred.await(begun)
      yield* TestClock.adjust("250 millis")
      yield* Fiber.interrupt(fiber)
      expect(yield* counted).toEqual({
        "get file Certificate error": [1, 0],
        "get file Certificate interrupted": [1, 0.25]
      })
    }).pipe(Effect.provideContext(registry()))
  )
})
