import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import "effect/schema/SchemaJITCompiler/enable"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { isDeepStrictEqual } from "node:util"
import * as IssueFinder from "../../../src/Host/Http/IssueFinder.ts"
import { isFull, sized, timeout } from "../../support/Campaign.ts"
import { nearlyValid, schemas } from "./support/nearlyValid.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

describe("IssueFinder", () => {
  it.effect(
    "finds what Effect's decoder finds",
    () =>
      Effect.gen(function* () {
        let found = 0
        const checked = yield* Arbitrary.checkEffect(
          nearlyValid,
          ({ index, input, options }) => {
            const json = Schema.toCodecJson(schemas[index]![0])
            const exit = SchemaParser.decodeUnknownExit(json, { ...options, errors: "all" })(input)
            const expected = Exit.isSuccess(exit)
              ? []
              : exit.cause.reasons.flatMap((reason) => (reason._tag === "Fail" ? format(reason.error).issues : []))
            const issues = IssueFinder.make(json.ast, options)(input)
            const actual = issues?.flatMap((issue) => format(issue).issues)
            if (actual !== undefined && actual.length > 0) found++
            return isDeepStrictEqual(actual ?? expected, expected) || Effect.fail({ input, actual, expected })
          },
          { runs: sized(100_000, 3_000), size: 20, ...(isFull ? undefined : { seed: "issues" }) }
        )
        assert.isUndefined(Arbitrary.formatCheckFailure(checked))
        assert.isAbove(found, 1_000)
      }),
    timeout
  )

  it("leaves to the decoder what breaks", () => {
    const broken = Schema.String.check(
      Schema.makeFilter(() => {
        throw new Error("broken")
      })
    )
    assert.isUndefined(IssueFinder.make(Schema.Struct({ broken }).ast, undefined)({ broken: "" }))
  })
})
