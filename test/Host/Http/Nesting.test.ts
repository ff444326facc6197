import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Nesting from "../../../src/Host/Http/Nesting.ts"
import { json } from "./support/arbitraries.ts"

const nested = (levels: number, innermost = "1") => "[".repeat(levels) + innermost + "]".repeat(levels)

const levelsOf = (value: Schema.Json): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(levelsOf)) : 0

/** Puts a value into lists, until it has so many levels. */
const within = (value: Schema.Json, levels: number): Schema.Json =>
  levelsOf(value) >= levels ? value : within([value], levels)

describe("Nesting", () => {
  it.each([
    [nested(256), false],
    [nested(257), true],
    [nested(256, "{}"), true],
    [`${'{"a":'.repeat(257)}1${"}".repeat(257)}`, true],
    // It is not as deep as it has brackets.
    [`[${"[[]],".repeat(500)}[]]`, false],
    [JSON.stringify(["[".repeat(600), { ["{".repeat(600)]: "\\" }]), false],
    [`["\\\\", ${nested(257)}]`, true],
    [`["\\\\\\"", ${nested(255)}]`, false],
    // What is no JSON is for the parser to refuse.
    [`${" ".repeat(600)}"[[[`, false],
    [`"${"\\".repeat(601)}`, false],
    ["]".repeat(600), false]
  ])("tells whether %s is too deep", (text, isTooDeep) => {
    assert.strictEqual(Nesting.isTooDeep(text), isTooDeep)
  })

  it.effect.prop("counts the levels of any JSON", { value: json }, ({ value }) =>
    Effect.sync(() => {
      const deepest = within(value, Nesting.maxDepth)
      for (const indent of [0, 2]) {
        assert.isFalse(Nesting.isTooDeep(JSON.stringify(deepest, null, indent)))
        assert.isTrue(Nesting.isTooDeep(JSON.stringify([deepest], null, indent)))
      }
    })
  )
})
