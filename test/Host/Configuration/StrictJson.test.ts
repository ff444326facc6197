import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { DocumentError, type DocumentNode, faults } from "../../../src/Host/Configuration/DocumentNode.ts"
import * as JsonDocument from "../../../src/Host/Configuration/JsonDocument.ts"
import * as StrictJson from "../../../src/Host/Configuration/StrictJson.ts"

/** Everything that can be seen of a document. */
const seen = (node: DocumentNode): unknown => {
  const at = `${node.line}:${node.column}`
  switch (node._tag) {
    case "Scalar":
      return [at, node.text, node.parsed]
    case "List":
      return [at, node.items.map(seen)]
    case "Section":
      return [at, node.entries.map((entry) => [entry.key, `${entry.line}:${entry.column}`, seen(entry.value)])]
  }
}

/** The document as the reader with positions sees it, unless that finds a fault. */
const reference = (text: string): DocumentNode | undefined => {
  try {
    const document = JsonDocument.parse(text)
    return faults(document).length === 0 ? document : undefined
  } catch (error) {
    if (error instanceof DocumentError) return undefined
    throw error
  }
}

const Key = Schema.Literals([
  '"a"',
  '"A"',
  '"b"',
  '"c"',
  '"d"',
  '"a:b"',
  '"1"',
  '"\\u003a"',
  '"__proto__"',
  '""',
  '"\\""',
  '"\\\\"',
  '"\\n"'
])
const Scalar = Schema.Literals([
  '"x"',
  '"::"',
  '"\\u003A"',
  '"\\":"',
  '" :"',
  "1.50",
  "-0",
  "1e3",
  "12345678901234567890",
  "null"
])
const Space = Schema.Literals(["", " ", "\n"])
const object = <S extends Schema.Constraint>(value: S) =>
  Schema.Struct({ entries: Schema.Array(Schema.Tuple([Key, Space, value])).check(Schema.isMaxLength(4)) })
const list = <S extends Schema.Constraint>(value: S) =>
  Schema.Struct({ items: Schema.Array(value).check(Schema.isMaxLength(3)) })
const Inner = Schema.Union([Scalar, object(Scalar), list(Scalar)])
const Document = object(Schema.Union([Inner, object(Inner), list(Inner)]))

const write = (value: unknown): string => {
  if (typeof value === "string") return value
  const { entries, items } = value as { entries?: Array<[string, string, unknown]>; items?: Array<unknown> }
  if (items !== undefined) return `[${items.map(write).join(",\n ")}]`
  return `{ ${entries!.map(([key, space, each]) => `${key}${space}:${space}${write(each)}`).join(",")}}`
}

describe("StrictJson", () => {
  it.effect("takes no text with a fault, and sees in any other what the reader with positions sees", () =>
    Effect.gen(function* () {
      let taken = 0
      const result = yield* Arbitrary.checkEffect(
        Arbitrary.schema(Document),
        (document) =>
          Effect.sync(() => {
            const text = write(document)
            const strict = StrictJson.parse(text)
            if (strict !== undefined) {
              taken++
              assert.deepStrictEqual(seen(strict), seen(reference(text)!), text)
            }
            return true
          }),
        { runs: 3000 }
      )
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
      assert.isAbove(taken, 300)
    })
  )

  it("takes what is plain JSON", () => {
    for (const text of [
      '{"a":{"b":"http://x","c":[1,true]},"d":null}',
      "{}",
      '{"__proto__":{"a":1}}',
      '{ "a" : "\\n" }'
    ]) {
      assert.isDefined(StrictJson.parse(text), text)
    }
  })

  it("leaves to the reader with positions what it cannot vouch for", () => {
    for (const text of [
      "",
      "[]",
      '"a"',
      '{"a":1,}',
      '{"a":1}//',
      '{"a":1,"a":2}',
      '{"a":1,"A":2}',
      '{"a":{"a":1},"A":2}',
      '{"a":":","a":2}',
      '{"a":"\\u003a","a":2}',
      '{"a" :1,"a":2}',
      '{"a":1,"a"\n:2}',
      '{"a":" :","a":2}',
      '{"a":"\\":","a":2}',
      '{"\\\\":1}',
      '{"a:b":1}',
      '{"1":1}',
      `${'{"a":'.repeat(101)}1${"}".repeat(101)}`
    ]) {
      assert.isUndefined(StrictJson.parse(text), text)
    }
  })
})
