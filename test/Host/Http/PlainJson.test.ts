import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import "effect/schema/SchemaJITCompiler/enable"
import type { ParseOptions } from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import { isDeepStrictEqual } from "node:util"
import * as PlainJson from "../../../src/Host/Http/PlainJson.ts"
import { isFull, sized, timeout } from "../../support/Campaign.ts"
import { nearlyValid, schemas } from "./support/nearlyValid.ts"

/** What comes of a value, in the order of its fields; how it failed is not told here. */
const outcome = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isSuccess(exit) ? [exit.value, JSON.stringify(exit.value)] : "failed"

const ways = {
  decodes: {
    plain: PlainJson.decoder,
    stock: (schema: Schema.Codec<unknown>, options?: ParseOptions) => SchemaParser.decodeUnknownExit(schema, options)
  },
  encodes: {
    plain: PlainJson.encoder,
    stock: (schema: Schema.Codec<unknown>, options?: ParseOptions) => SchemaParser.encodeUnknownExit(schema, options)
  }
}

describe("PlainJson", () => {
  for (const [name, { plain, stock }] of Object.entries(ways)) {
    it.effect(
      `${name} as Effect does`,
      () =>
        Effect.gen(function* () {
          let successes = 0
          const checked = yield* Arbitrary.checkEffect(
            nearlyValid,
            ({ index, input, options }) => {
              const json: Schema.Codec<unknown, any> = Schema.toCodecJson(schemas[index]![0])
              const expected = outcome(stock(json, options)(input))
              const actual = outcome(Effect.runSyncExit(plain(json.ast, options)(input)))
              if (expected !== "failed") successes++
              return isDeepStrictEqual(actual, expected) || Effect.fail({ input, actual, expected })
            },
            { runs: sized(100_000, 3_000), size: 20, ...(isFull ? undefined : { seed: name }) }
          )
          assert.isUndefined(Arbitrary.formatCheckFailure(checked))
          assert.isAbove(successes, 500)
        }),
      timeout
    )
  }
})
