import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import "effect/schema/SchemaJITCompiler/enable"
import type { ParseOptions } from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { isDeepStrictEqual } from "node:util"
import * as IssueFinder from "../../../src/Host/Http/IssueFinder.ts"
import { isFull, sized, timeout } from "../../support/Campaign.ts"
import { json } from "./support/arbitraries.ts"

const Name = Schema.String.check(Schema.isMinLength(2), Schema.isPattern(/^[a-z]+$/))
const Line = Schema.Struct({ sku: Name, quantity: Schema.Int.check(Schema.isGreaterThan(0)) })

class Person extends Schema.Class<Person>("Person")({ name: Name, lines: Schema.Array(Line) }) {}

interface Tree {
  readonly value: number
  readonly children: ReadonlyArray<Tree>
}
const Tree: Schema.Codec<Tree> = Schema.Struct({
  value: Schema.Number,
  children: Schema.Array(Schema.suspend(() => Tree))
})

/** Schemas of all sorts, each with what it takes. */
const schemas: ReadonlyArray<readonly [schema: Schema.Codec<any, any>, sample: Schema.Json]> = [
  [
    Schema.Struct({ name: Name, "other-name": Name, lines: Schema.Array(Line) }),
    {
      name: "ada",
      "other-name": "bob",
      lines: [
        { sku: "ab", quantity: 1 },
        { sku: "cd", quantity: 2 }
      ]
    }
  ],
  [
    Schema.Struct({
      maybe: Schema.optionalKey(Name),
      undefined: Schema.optional(Line),
      byDefault: Schema.Number.pipe(Schema.withDecodingDefaultKey(Effect.succeed(1))),
      nullable: Schema.NullOr(Name),
      anything: Schema.Unknown,
      told: Schema.String.annotateKey({ messageMissingKey: "Say it" }).annotate({ message: "A text, please" })
    }),
    { maybe: "ab", undefined: { sku: "ab", quantity: 1 }, byDefault: 2, nullable: null, anything: [], told: "a" }
  ],
  [
    Schema.Struct({ date: Schema.DateFromString, count: Schema.FiniteFromString, ["__proto__"]: Schema.Unknown }),
    { date: "2026-01-02", count: "1", ["__proto__"]: 1 }
  ],
  [Schema.Array(Schema.Array(Schema.Finite)), [[1, 2], [], [3]]],
  [Schema.Tuple([Name, Schema.Array(Line)]), ["ab", [{ sku: "ab", quantity: 1 }]]],
  [
    Schema.NonEmptyArray(Line),
    [
      { sku: "ab", quantity: 1 },
      { sku: "ab", quantity: 1 }
    ]
  ],
  [Schema.Array(Line).check(Schema.isMinLength(1)), [{ sku: "ab", quantity: 1 }]],
  [Schema.Record(Schema.String, Schema.Array(Line)), { a: [{ sku: "ab", quantity: 1 }], b: [] }],
  [
    Schema.Struct({ a: Name, b: Name }).check(Schema.makeFilter(({ a, b }) => (a === b ? undefined : "a is not b"))),
    { a: "ab", b: "ab" }
  ],
  [
    Schema.Union([
      Schema.Struct({ kind: Schema.Literal("a"), lines: Schema.Array(Line) }),
      Schema.Struct({ kind: Schema.Literal("b"), name: Name })
    ]),
    { kind: "a", lines: [{ sku: "ab", quantity: 1 }] }
  ],
  [Person, { name: "ada", lines: [{ sku: "ab", quantity: 1 }] }],
  [
    Tree,
    {
      value: 1,
      children: [
        { value: 2, children: [] },
        { value: 3, children: [] }
      ]
    }
  ],
  [Schema.Struct({}), {}],
  [
    Schema.Struct({ nested: Schema.Struct({ name: Name, lines: Schema.Array(Name) }) }),
    { nested: { name: "ab", lines: ["ab"] } }
  ]
]

const optionsOf: ReadonlyArray<ParseOptions | undefined> = [
  undefined,
  { reportInput: true },
  { onExcessProperty: "error" },
  { disableChecks: true }
]

/** A value with another in one place, or with nothing there. */
const changed = (value: any, [step, ...steps]: ReadonlyArray<number>, by: Schema.Json | undefined): any => {
  if (step === undefined || typeof value !== "object" || value === null) return by
  const keys = Object.keys(value)
  const key = keys[step % (keys.length + 1)] ?? "more"
  const copy = Array.isArray(value) ? [...value] : { ...value }
  const part = changed(value[key], steps, by)
  if (part !== undefined)
    Object.defineProperty(copy, Array.isArray(value) ? Number(key) || 0 : key, {
      value: part,
      writable: true,
      enumerable: true,
      configurable: true
    })
  else delete copy[key]
  return copy
}

const step = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 6 }))
const cases = Arbitrary.all({
  index: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: schemas.length - 1 }))),
  options: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: optionsOf.length - 1 }))),
  changes: Arbitrary.array(
    Arbitrary.all({
      steps: Arbitrary.array(Arbitrary.schema(step), { maxLength: 4 }),
      by: json,
      isRemoval: Arbitrary.schema(Schema.Boolean)
    }),
    { maxLength: 3 }
  )
})

const format = SchemaIssue.makeFormatterStandardSchemaV1()

describe("IssueFinder", () => {
  it.effect(
    "finds what Effect's decoder finds",
    () =>
      Effect.gen(function* () {
        let found = 0
        const checked = yield* Arbitrary.checkEffect(
          cases,
          ({ changes, index, options }) => {
            const [schema, sample] = schemas[index]!
            const parse = optionsOf[options]
            const input = changes.reduce(
              (value, { by, isRemoval, steps }) => changed(value, steps, isRemoval ? undefined : by),
              sample
            )
            const exit = SchemaParser.decodeUnknownExit(schema, { ...parse, errors: "all" })(input)
            const issue = Exit.isFailure(exit)
              ? exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error
              : undefined
            const expected = issue === undefined ? [] : format(issue).issues
            const issues = IssueFinder.make(schema.ast, parse)(input)
            const actual = issues?.flatMap((issue) => format(issue).issues)
            if (actual !== undefined && actual.length > 0) found++
            return isDeepStrictEqual(actual ?? expected, expected)
              ? true
              : Effect.fail({ schema: index, input, actual, expected })
          },
          { runs: sized(100_000, 3_000), size: 20, ...(isFull ? undefined : { seed: "issues" }) }
        )
        assert.isUndefined(Arbitrary.formatCheckFailure(checked))
        assert.isAbove(found, 1_000)
      }),
    timeout
  )

  it("leaves to the decoder what has to wait, and what breaks", () => {
    const waits = Schema.String.check(
      Schema.makeFilter(() => {
        throw new Error("broken")
      })
    )
    assert.isUndefined(IssueFinder.make(Schema.Struct({ name: Name, waits }).ast, undefined)({ name: "", waits: "" }))
  })
})
