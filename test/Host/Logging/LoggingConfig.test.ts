import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { LoggingConfig } from "../../../src/Host/Logging/LoggingConfig.ts"

const decode = (input: unknown) =>
  Effect.result(
    Schema.decodeUnknownEffect(LoggingConfig.schema as Schema.Codec<unknown, unknown>, { errors: "all" })(input)
  )

describe("LoggingConfig", () => {
  const cases: ReadonlyArray<[rule: string, input: unknown, expected: unknown]> = [
    ["an empty section has the defaults", {}, { minimumLevel: "Information", override: {} }],
    [
      "names are taken in any case",
      { minimumLevel: "debug", format: "JSON", override: { System: "ERROR" } },
      { minimumLevel: "Debug", format: "json", override: { System: "Error" } }
    ],
    [
      "groups of overrides, as variables make them, become namespaces",
      { override: { layerhost: { host: { request: "warning" }, secretstore: "Verbose" }, "a.b": "Fatal" } },
      {
        minimumLevel: "Information",
        override: { "layerhost:host:request": "Warning", "layerhost:secretstore": "Verbose", "a.b": "Fatal" }
      }
    ]
  ]
  for (const [rule, input, expected] of cases) {
    it.effect(rule, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(Result.getOrThrow(yield* decode(input)), expected)
      })
    )
  }

  it.effect("tells every wrong level with its key and the names that there are", () =>
    Effect.gen(function* () {
      const result = yield* decode({ minimumLevel: "Info", override: { a: "Loud", b: { c: "Quiet" } }, format: "xml" })
      assert.strictEqual(
        Result.isFailure(result) ? result.failure.message : undefined,
        `Expected "Verbose" | "Debug" | "Information" | "Warning" | "Error" | "Fatal"
  at ["minimumLevel"]
Expected "Verbose" | "Debug" | "Information" | "Warning" | "Error" | "Fatal"
  at ["override"]["a"]
Expected "Verbose" | "Debug" | "Information" | "Warning" | "Error" | "Fatal"
  at ["override"]["b:c"]
Expected "json" | "pretty" | "logfmt"
  at ["format"]`
      )
    })
  )

  it("lists the names in its JSON Schema, so that editors complete them", () => {
    const { schema } = Schema.toJsonSchemaDocument(LoggingConfig.schema)
    assert.include(JSON.stringify(schema), '["Verbose","Debug","Information","Warning","Error","Fatal"]')
    assert.include(JSON.stringify(schema), '["json","pretty","logfmt"]')
  })
})
