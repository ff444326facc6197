import { assert, describe, it } from "@effect/vitest"
import * as YAML from "yaml"
import { BodyTooLarge, MalformedBody } from "../../../src/Host/Http/RequestError.ts"
import * as Yaml from "../../../src/Host/Http/Yaml.ts"
import { hostileText, json } from "./support/arbitraries.ts"

const limit = 8_388_608

/** What a text is refused with. */
const refusal = (text: string, maxSize = limit): MalformedBody | BodyTooLarge => {
  let result: string
  try {
    result = Yaml.toJson(text, maxSize)
  } catch (error) {
    if (error instanceof MalformedBody || error instanceof BodyTooLarge) return error
    throw error
  }
  return assert.fail(`taken as ${result.slice(0, 200)}`)
}

describe("Yaml.toJson", () => {
  it.each<[string, unknown]>([
    ["a: 1\nb: [x, 'y', \"z\"]\n", { a: 1, b: ["x", "y", "z"] }],
    ["- 0x1F\n- 0o17\n- 1e3\n- -1.5\n- +7\n", [31, 15, 1000, -1.5, 7]],
    ["[true, False, null, ~, yes, No, on]", [true, false, null, null, "yes", "No", "on"]],
    ["[2001-12-14, 12:30:45, 007, 1_000]", ["2001-12-14", "12:30:45", 7, "1_000"]],
    ["!!str 12", "12"],
    ["!!int '12'", 12],
    ["%YAML 1.2\n---\na: b\n...\n", { a: "b" }],
    ["\ufeffa: b", { a: "b" }],
    ["{a, b: }", { a: null, b: null }],
    ["|\n two\n lines\n", "two\nlines\n"],
    ['"\\x41\\u00e9\\n"', "Aé\n"],
    ["200: ok\n1.0: one\ntrue: yes\n0x10: hex", { "200": "ok", "1.0": "one", true: "yes", "0x10": "hex" }],
    ["__proto__: {polluted: yes}\nconstructor: 1", JSON.parse('{"__proto__":{"polluted":"yes"},"constructor":1}')],
    ["<<: {a: 1}\nb: 2", { "<<": { a: 1 }, b: 2 }],
    ["a: &x [1, 2]\nb: *x\nc: *x", { a: [1, 2], b: [1, 2], c: [1, 2] }],
    ["- &x 1\n- &y [*x]\n- &x 2\n- *y\n- *x", [1, [1], 2, [1], 2]],
    ["&k a: b\nc: *k", { a: "b", c: "a" }],
    ["- &k a\n- *k : b", ["a", { a: "b" }]],
    ["~", null],
    ["---\n", null],
    [JSON.stringify({ deep: [{ "a b": 'q"\\/\u2028' }] }), { deep: [{ "a b": 'q"\\/\u2028' }] }]
  ])("reads %j", (text, value) => {
    assert.deepStrictEqual(JSON.parse(Yaml.toJson(text, limit)), value)
  })

  it.each(["", " \n", "# only a comment\n"])("finds nothing in %j", (text) => {
    assert.strictEqual(Yaml.toJson(text, limit), "")
  })

  it.each([
    ["a: 1\nb: 2\na: 3", "Expected each key once (line 3, column 1)"],
    ["{a: 1, 'a': 2}", "Expected each key once (line 1, column 8)"],
    ["a: 1\n---\nb: 2", "Expected one document (line 2, column 1)"],
    ["a: .nan", "Expected a finite number (line 1, column 4)"],
    ["a: -.inf", "Expected a finite number (line 1, column 4)"],
    ["a: 1e999", "Expected a finite number (line 1, column 4)"],
    ["? [a]\n: 1", "Expected a text as key (line 1, column 3)"],
    ["~: 1", "Expected a text as key (line 1, column 1)"],
    ["a: *b", "Expected an anchor before its alias (line 1, column 4)"],
    ["a: *b\nb: &b 1", "Expected an anchor before its alias (line 1, column 4)"],
    ["&a [*a]", "Expected at most 256 levels (line 1, column 4)"],
    ["a: !!binary aGk=", "Unresolved tag: tag:yaml.org,2002:binary (line 1, column 4)"],
    ["a: !!timestamp 2001-12-14", "Unresolved tag: tag:yaml.org,2002:timestamp (line 1, column 4)"],
    ["!!set {a}", "Unresolved tag: tag:yaml.org,2002:set (line 1, column 1)"],
    ["!mine a", "Unresolved tag: !mine (line 1, column 1)"],
    ["%YAML 1.1\n---\nyes", "Expected YAML 1.2"],
    ["a: 'x", "Missing closing 'quote (line 1, column 6)"],
    ["a: @hunter2", "Plain value cannot start with reserved character @ (line 1, column 4)"],
    ["a: [1] hunter2", "Unexpected"]
  ])("refuses %j", (text, message) => {
    const error = refusal(text)
    assert.instanceOf(error, MalformedBody)
    assert.isTrue(error.message.startsWith(message), error.message)
    assert.notInclude(error.message, "hunter")
  })

  it.each([
    ["flow", "[".repeat(10_000)],
    ["block", "- ".repeat(10_000)],
    ["well-formed", "[".repeat(300) + "]".repeat(300)]
  ])("refuses a document that is nested too deeply: %s", (_name, text) => {
    const error = refusal(text)
    assert.instanceOf(error, MalformedBody)
    assert.include(error.message, "Expected at most 256 levels")
  })

  it("takes no more tokens than the parser can bear, however they are spelled", () => {
    for (const text of [
      "[".repeat(4_000_000),
      "- ".repeat(2_000_000),
      "-\n".repeat(1_000_000),
      "#\n".repeat(1_000_000)
    ]) {
      assert.instanceOf(refusal(text), BodyTooLarge)
    }
  })

  it("takes many keys without comparing each to each", () => {
    const text = Array.from({ length: 20_000 }, (_, i) => `k${i}: v`).join("\n")
    assert.strictEqual(Object.keys(JSON.parse(Yaml.toJson(text, limit))).length, 20_000)
  })

  it("bounds what aliases make, to the value and the byte", () => {
    const bomb = ["a0: &a0 [x, x]", ...Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`)]
    assert.instanceOf(refusal(bomb.join("\n")), BodyTooLarge)
    const long = `[&a "${"x".repeat(1000)}"${", *a".repeat(9_999)}]`
    assert.instanceOf(refusal(long), BodyTooLarge)
    const many = (aliases: number) => `[&a x${", *a".repeat(aliases)}]`
    assert.lengthOf(JSON.parse(Yaml.toJson(many(10_000), limit)), 10_001)
    assert.instanceOf(refusal(many(10_001)), BodyTooLarge)
    const text = "[&a é, *a, *a]"
    const exact = Buffer.byteLength('["é","é","é"]')
    assert.strictEqual(Yaml.toJson(text, exact), '["é","é","é"]')
    assert.instanceOf(refusal(text, exact - 1), BodyTooLarge)
  })

  it.prop("reads a JSON text as what it says", { value: json }, ({ value }) => {
    const text = JSON.stringify(value)
    assert.deepStrictEqual(JSON.parse(Yaml.toJson(text, limit)), JSON.parse(text))
  })

  it.prop("reads every spelling of a JSON value", { value: json }, ({ value }) => {
    const plain: unknown = JSON.parse(JSON.stringify(value))
    for (const options of [
      {},
      { collectionStyle: "flow", defaultStringType: "QUOTE_DOUBLE" },
      { defaultStringType: "QUOTE_SINGLE" }
    ] as const) {
      const text = YAML.stringify(value, { aliasDuplicateObjects: false, ...options })
      assert.deepStrictEqual(JSON.parse(Yaml.toJson(text, limit) || "null"), plain)
    }
  })

  it.prop("reads any text, or refuses it as malformed", { text: hostileText }, ({ text }) => {
    let result: string
    try {
      result = Yaml.toJson(text, limit)
    } catch (error) {
      assert.instanceOf(error, MalformedBody)
      return
    }
    if (result !== "") JSON.parse(result)
  })
})

describe("Yaml.fromJson", () => {
  it.prop("writes what reads as the same value", { value: json }, ({ value }) => {
    const text = JSON.stringify(value)
    assert.deepStrictEqual(YAML.parse(Yaml.fromJson(text)!), JSON.parse(text))
  })

  it("writes no aliases, and folds no lines", () => {
    const text = JSON.stringify({ a: { b: 1 }, c: { b: 1 }, long: "word ".repeat(100) })
    assert.strictEqual(Yaml.fromJson(text), `a:\n  b: 1\nc:\n  b: 1\nlong: "${"word ".repeat(100)}"\n`)
  })

  it("keeps white space", () => {
    for (const text of [" \n", "\n ", " a\n", "a\n\n b \n", "\t\n\t", "\r\n", "\u0085\u2028"]) {
      assert.strictEqual(YAML.parse(Yaml.fromJson(JSON.stringify({ text }))!).text, text)
    }
  })

  it("writes nothing for what is not JSON", () => {
    assert.isUndefined(Yaml.fromJson("{"))
  })
})
