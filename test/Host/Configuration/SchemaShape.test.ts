import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { holdsSecretAt, isSecretAt, placeAt } from "../../../src/Host/Configuration/SchemaShape.ts"

const Secret = Schema.RedactedFromValue(Schema.String)
const Part = Schema.Struct({ plain: Schema.String, value: Secret })

const { ast } = Schema.toCodecStringTree(
  Schema.Struct({
    direct: Secret,
    withDefault: Secret.pipe(Schema.withDecodingDefaultKey(Effect.succeed("x"))),
    section: Part,
    sectionWithDefault: Part.pipe(Schema.withDecodingDefaultKey(Effect.succeed({ plain: "x", value: "x" }))),
    list: Schema.Array(Part).pipe(Schema.withDecodingDefaultKey(Effect.succeed([]))),
    record: Schema.Record(Schema.String, Secret).pipe(Schema.withDecodingDefaultKey(Effect.succeed({}))),
    plain: Schema.String
  })
)

describe("secrets of a Schema", () => {
  it.each([
    ["direct", true],
    ["withDefault", true],
    ["section:value", true],
    ["section:plain", false],
    ["section", false],
    ["sectionWithDefault:value", true],
    ["sectionWithDefault:plain", false],
    ["SECTIONWITHDEFAULT:VALUE", true],
    ["list:0:value", true],
    ["list:7:plain", false],
    ["list", false],
    ["record:any", true],
    ["plain", false]
  ])("%s: %s", (path, expected) => {
    assert.strictEqual(isSecretAt(ast, path.split(":")), expected)
    assert.strictEqual(placeAt(ast, path.split(":")).secret, expected)
  })

  it.each([
    ["list", true],
    ["sectionWithDefault", true],
    ["record", true],
    ["plain", false],
    ["section:plain", false]
  ])("%s holds one: %s", (path, expected) => {
    assert.strictEqual(holdsSecretAt(ast, path.split(":")), expected)
  })
})
