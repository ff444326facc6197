import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestHost from "../../../src/testing/TestHost.ts"

/** The liveness report of a host with the given section. */
const liveness = Effect.fnUntraced(function* (health: Readonly<Record<string, unknown>>) {
  const { request } = yield* TestHost.make([], { config: { health } })
  const { status, text } = yield* request("/health/liveness")
  const entries: ReadonlyArray<Record<string, string>> = JSON.parse(text).entries
  return { status, entries: entries.map(({ name, status }) => `${name} ${status}`), text }
})

describe("the section health", () => {
  it.effect("sets the threshold of disk_space, in bytes", () =>
    Effect.gen(function* () {
      const { entries, status, text } = yield* liveness({ minimumFreeDiskSpace: "9007199254740991" })
      assert.strictEqual(status, 503)
      assert.deepStrictEqual(entries, ["api Healthy", "disk_space Unhealthy", "memory Healthy"])
      assert.include(text, "Below 8 PiB")
    })
  )

  it.effect("sets the threshold of memory, in bytes", () =>
    Effect.gen(function* () {
      const { entries, status, text } = yield* liveness({ minimumFreeDiskSpace: 0, maxAllocatedMemory: 1_048_576 })
      assert.strictEqual(status, 503)
      assert.deepStrictEqual(entries, ["api Healthy", "disk_space Healthy", "memory Unhealthy"])
      assert.include(text, "limit 1 MiB")
    })
  )

  it.effect("refuses what is no size", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(liveness({ minimumFreeDiskSpace: "100 MB", maxAllocatedMemory: -1 }))
      assert.include(error.message, "health:minimumFreeDiskSpace")
      assert.include(error.message, "health:maxAllocatedMemory")
    })
  )
})
