import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as RegisteredCheck from "../../../src/Host/Health/RegisteredCheck.ts"
import * as HealthCheck from "../../../src/Plugins/HealthCheck.ts"

const register = (plugin: string, name: string, tags: ReadonlyArray<string> = []) => ({
  check: HealthCheck.make({ name, tags, check: Effect.succeed(HealthCheck.healthy()) }),
  plugin
})

describe("RegisteredCheck", () => {
  it("finds names that clash whatever their case, with every plugin involved", () => {
    assert.deepStrictEqual(
      RegisteredCheck.duplicateNames([
        register("a", "Db"),
        register("b", "cache"),
        register("b", "DB"),
        register("c", "db"),
        register("c", "HOST")
      ]),
      [
        { name: "host", plugins: ["layerhost/host", "c"] },
        { name: "Db", plugins: ["a", "b", "c"] }
      ]
    )
    assert.deepStrictEqual(RegisteredCheck.duplicateNames([register("a", "db"), register("a", "cache")]), [])
  })

  it("finds tags that no path can be made of", () => {
    const invalid = ["", ".", "..", ".well", "a/b", "a b", ":id", "*", "a?", "é", "%41", "a\n"]
    const valid = ["liveness", "secret-store", "v1.2", "_x", "A9"]
    assert.deepStrictEqual(
      RegisteredCheck.invalidTags([register("a", "db", [...invalid, ...valid])]),
      invalid.map((tag) => ({ tag, check: "db", plugin: "a" }))
    )
  })
})
