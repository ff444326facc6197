import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { DocumentError, type DocumentNode } from "../../../src/Host/Configuration/DocumentNode.ts"
import * as JsonDocument from "../../../src/Host/Configuration/JsonDocument.ts"
import * as YamlDocument from "../../../src/Host/Configuration/YamlDocument.ts"

/** The plain value of a document, as `JSON.parse` would give it; the last of duplicate keys wins. */
const plain = (node: DocumentNode): unknown => {
  switch (node._tag) {
    case "Scalar":
      return node.parsed
    case "List":
      return node.items.map(plain)
    case "Section":
      return Object.fromEntries(node.entries.map(({ key, value }) => [key, plain(value)]))
  }
}

/**
 * A JSON value as a text keeps it, which has no negative zero. `JSON.parse` is no judge here: that of V8 in Node 26.10 reads
 * the key `"\n"` as a backslash where an object with that key in this place came before.
 */
const written = (value: Schema.Json): unknown => {
  if (typeof value === "number") return value + 0
  if (Array.isArray(value)) return value.map(written)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, written(each)]))
}

/** Every scalar as `text@line:column`. */
const scalars = (node: DocumentNode): ReadonlyArray<string> => {
  switch (node._tag) {
    case "Scalar":
      return [`${node.text}@${node.line}:${node.column}`]
    case "List":
      return node.items.flatMap(scalars)
    case "Section":
      return node.entries.flatMap(({ value }) => scalars(value))
  }
}

const isRefused = (parse: () => DocumentNode): boolean => {
  try {
    parse()
    return false
  } catch (error) {
    if (error instanceof DocumentError) return true
    throw error
  }
}

const passes = <A>(arbitrary: Arbitrary.Arbitrary<A>, property: (value: A) => boolean, runs: number) =>
  Effect.gen(function* () {
    const result = yield* Arbitrary.checkEffect(arbitrary, (value) => Effect.sync(() => property(value)), { runs })
    assert.isUndefined(Arbitrary.formatCheckFailure(result))
  })

describe("JSON", () => {
  it("takes comments and trailing commas, and keeps the position of every value", () => {
    const text = `// first
{ /* a
 b */ "a": 1, // "x": 2
  "list": [ true, null,
    "é", -1.50e3, ],
  "c/*d*/": "// no comment",
}
/**/ //`
    const node = JsonDocument.parse(text)
    assert.deepStrictEqual(plain(node), { a: 1, list: [true, null, "é", -1500], "c/*d*/": "// no comment" })
    assert.deepStrictEqual(scalars(node), [
      "1@3:12",
      "true@4:13",
      "null@4:19",
      "é@5:5",
      "-1.50e3@5:10",
      "// no comment@6:13"
    ])
  })

  it.effect("reads what JSON.stringify wrote", () =>
    passes(
      Arbitrary.schema(Schema.Json),
      (value) => {
        const text = JSON.stringify(value, null, 2)
        assert.deepStrictEqual(plain(JsonDocument.parse(text)), written(value))
        return true
      },
      500
    )
  )

  it.effect("refuses with a position what JSON.parse refuses, comments and trailing commas aside", () => {
    const piece = Schema.Literals([
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      '"',
      "1",
      "-",
      "0",
      "1.",
      ".5",
      "e",
      "true",
      "nul",
      "null",
      " ",
      "\n",
      "\\",
      "\\u00",
      "\t",
      "x",
      "\u0000"
    ])
    return passes(
      Arbitrary.array(Arbitrary.schema(piece), { maxLength: 12 }),
      (pieces) => {
        const text = pieces.join("")
        const mayDiffer = /,\s*[}\]]/.test(text)
        const refused = isRefused(() => JsonDocument.parse(text))
        return mayDiffer || refused === isRefusedByJson(text)
      },
      5000
    )
  })

  it("refuses what is no JSON", () => {
    for (const text of [
      "[,]",
      "{,}",
      "[1 2]",
      "{a: 1}",
      "{'a': 1}",
      "01",
      "+1",
      "1.",
      ".1",
      "0x1",
      "NaN",
      "truex",
      "/* x",
      "/",
      '"\n"',
      '"\\x"',
      '"\t"',
      "1 2",
      "[1,,2]"
    ]) {
      assert.isTrue(
        isRefused(() => JsonDocument.parse(text)),
        text
      )
    }
  })
})

const isRefusedByJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

describe("YAML", () => {
  it("is version 1.2, keeps the text of plain scalars and the position of every value", () => {
    const text = `# first
a: 007
b: [yes, 0o17, 0x1F, 1.50, ~, 'x y', "t\\tb"]
c:
  - |
    block
  - >-
    folded
    text
d:
2: { e: true }
`
    assert.deepStrictEqual(scalars(YamlDocument.parse(text)), [
      "007@2:4",
      "yes@3:5",
      "0o17@3:10",
      "0x1F@3:16",
      "1.50@3:22",
      "~@3:28",
      "x y@3:31",
      "t\tb@3:38",
      "block\n@5:5",
      "folded text@7:5",
      "@10:3",
      "true@11:9"
    ])
  })

  it("has anchors, aliases and merge keys", () => {
    const text = `
base: &base { a: 1, b: 2 }
more: &more { b: 3, c: 4 }
one: { <<: *base, b: 5 }
many: { <<: [*more, *base], d: 6 }
same: *base
inline: { <<: { x: 1 } }
again: &base { z: 9 }
last: *base
quoted: { "<<": x }
`
    const { base: _base, more: _more, ...rest } = plain(YamlDocument.parse(text)) as Record<string, unknown>
    assert.deepStrictEqual(rest, {
      one: { a: 1, b: 5 },
      many: { a: 1, b: 3, c: 4, d: 6 },
      same: { a: 1, b: 2 },
      inline: { x: 1 },
      again: { z: 9 },
      last: { z: 9 },
      quoted: { "<<": "x" }
    })
  })

  it("is empty where it holds nothing", () => {
    for (const text of ["", "# comment", "---", "---\n", "null", "~"]) {
      assert.deepStrictEqual(plain(YamlDocument.parse(text)), {}, JSON.stringify(text))
    }
  })

  it.effect("reads what JSON.stringify wrote, since JSON is YAML", () =>
    passes(
      Arbitrary.schema(Schema.Record(Schema.String, Schema.Json)),
      (value) => {
        const text = JSON.stringify(value, null, 2)
        assert.deepStrictEqual(plain(YamlDocument.parse(text)), written(value))
        return true
      },
      200
    )
  )

  it.effect("ends on whatever it is given", () => {
    const piece = Schema.Literals([
      "a",
      ": ",
      "- ",
      "\n",
      "  ",
      "&a ",
      "*a",
      "<<: ",
      "[",
      "]",
      "{",
      "}",
      ", ",
      "? ",
      "| ",
      "> ",
      "'",
      '"',
      "!",
      "!!int ",
      "%",
      "---",
      "...",
      "#",
      "\t",
      "~",
      "1",
      "@",
      "\r\n"
    ])
    return passes(
      Arbitrary.array(Arbitrary.schema(piece), { maxLength: 15 }),
      (pieces) => {
        isRefused(() => YamlDocument.parse(pieces.join("")))
        return true
      },
      3000
    )
  })
})
