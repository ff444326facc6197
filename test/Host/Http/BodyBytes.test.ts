import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { HttpServerError } from "effect/http/HttpServerError"
import type { IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import * as BodyBytes from "../../../src/Host/Http/BodyBytes.ts"

/** Reads a body that comes in these chunks, of at most 10,000 bytes; a failure is its cause. */
const collect = (chunks: ReadonlyArray<string>) =>
  Effect.callback<string, unknown>((resume) => {
    const source = Readable.from(
      chunks.map((chunk) => Buffer.from(chunk)),
      { objectMode: false }
    )
    const toError = (cause: unknown) => cause as HttpServerError
    BodyBytes.collect(source as IncomingMessage, 10_000, toError, (bytes) =>
      resume(Effect.map(bytes, (all) => new TextDecoder().decode(all)))
    )
  })

describe("the bytes of a body", () => {
  for (const count of [0, 1, 2, 255, 256, 257, 512, 1_000]) {
    it.effect(`are all there, and in order, where they come in ${count} chunks`, () =>
      Effect.gen(function* () {
        const chunks = Array.from({ length: count }, (_, i) => `${i},`)
        assert.strictEqual(yield* collect(chunks), chunks.join(""))
      })
    )
  }

  it.effect("are no more than the limit, however small their chunks", () =>
    Effect.gen(function* () {
      const most = Array.from({ length: 10_000 }, () => "a")
      assert.lengthOf(yield* collect(most), 10_000)
      assert.containsSubset(yield* Effect.flip(collect([...most, "a"])), { message: BodyBytes.tooLarge(10_000) })
    })
  )
})
