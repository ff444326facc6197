/** Schemas of all sorts, and values that are nearly what they take. */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { ParseOptions } from "effect/SchemaAST"
import { json } from "./arbitraries.ts"

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
export const schemas: ReadonlyArray<readonly [schema: Schema.Codec<any, any>, sample: Schema.Json]> = [
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
    Schema.Struct({
      number: Schema.optional(Schema.Number),
      line: Schema.optional(Line),
      nullable: Schema.optional(Schema.NullOr(Name)),
      list: Schema.Array(Schema.Struct({ text: Schema.optional(Schema.String) }))
    }),
    { number: 1, line: { sku: "ab", quantity: 1 }, nullable: "ab", list: [{ text: "" }] }
  ],
  [
    Schema.Struct({
      text: Schema.optional(Schema.String),
      or: Schema.UndefinedOr(Schema.Union([Schema.Boolean, Name]))
    }),
    { text: "a", or: true }
  ],
  [
    Schema.Struct({
      maybe: Schema.optionalKey(Schema.Number),
      nullable: Schema.NullOr(Schema.Number),
      either: Schema.Union([Schema.Finite, Schema.String]),
      positive: Schema.Number.check(Schema.isGreaterThan(0)),
      list: Schema.Array(Schema.Number)
    }),
    { maybe: 1, nullable: null, either: "a", positive: 1.5, list: [1, -0] }
  ],
  [
    Schema.Struct({ number: Schema.Number, either: Schema.Union([Schema.Number, Schema.String]) }),
    { number: 1, either: 2 }
  ],
  [Schema.Union([Schema.Struct({ a: Schema.Number }), Schema.Struct({ a: Schema.String })]), { a: 1 }],
  [Schema.Array(Schema.Struct({ a: Schema.Number })).check(Schema.isMinLength(1)), [{ a: 1 }]],
  [
    Schema.Struct({ inner: Schema.Struct({ a: Schema.Number }).check(Schema.makeFilter((self) => !("more" in self))) }),
    { inner: { a: 1 } }
  ],
  [
    Schema.Struct({ nested: Schema.Struct({ name: Name, lines: Schema.Array(Name) }) }),
    { nested: { name: "ab", lines: ["ab"] } }
  ]
]

/** What is something else in JSON, and what that is taken for. */
const oddities = [undefined, null, NaN, Infinity, -Infinity, "NaN", "Infinity", "-Infinity", -0, 1.5, 0]

const parseOptions: ReadonlyArray<ParseOptions | undefined> = [
  undefined,
  { reportInput: true },
  { onExcessProperty: "error" },
  { disableChecks: true }
]

/** A value with another in one place, or with nothing there. */
const changed = (value: any, [step, ...steps]: ReadonlyArray<number>, by: unknown): any => {
  if (step === undefined || typeof value !== "object" || value === null) return by
  const keys = Object.keys(value)
  const key = keys[step % (keys.length + 1)] ?? keys.length
  const copy = Array.isArray(value) ? [...value] : { ...value }
  const part = changed(value[key], steps, by)
  if (part === undefined) delete copy[key]
  // To assign it would set the prototype, where that is its name.
  else Object.defineProperty(copy, key, { value: part, writable: true, enumerable: true, configurable: true })
  return copy
}

const below = (end: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: end - 1 })))

/** One of the schemas by its index, how it is to parse, and a value that is nearly what it takes. */
export const nearlyValid = Arbitrary.map(
  Arbitrary.all({
    index: below(schemas.length),
    options: below(parseOptions.length),
    changes: Arbitrary.array(
      Arbitrary.all({
        steps: Arbitrary.array(below(7), { maxLength: 4 }),
        kind: below(3),
        json,
        oddity: below(oddities.length)
      }),
      { maxLength: 3 }
    )
  }),
  ({ changes, index, options }) => {
    const [, sample] = schemas[index]!
    const input: unknown = changes.reduce<unknown>(
      (value, { json, kind, oddity, steps }) => changed(value, steps, [json, oddities[oddity], undefined][kind]),
      sample
    )
    return { index, options: parseOptions[options], input }
  }
)
