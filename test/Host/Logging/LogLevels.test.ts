import { assert, describe, it } from "@effect/vitest"
import * as LogLevels from "../../../src/Host/Logging/LogLevels.ts"

describe("LogLevels", () => {
  it("maps the six names onto Effect's levels and back", () => {
    assert.deepStrictEqual(
      LogLevels.names.map((name) => [name, LogLevels.toEffect[name]]),
      [
        ["Verbose", "Trace"],
        ["Debug", "Debug"],
        ["Information", "Info"],
        ["Warning", "Warn"],
        ["Error", "Error"],
        ["Fatal", "Fatal"]
      ]
    )
    for (const name of LogLevels.names) assert.strictEqual(LogLevels.fromEffect[LogLevels.toEffect[name]], name)
  })

  it("orders the names by severity", () => {
    for (const [i, level] of LogLevels.names.entries()) {
      for (const [j, minimum] of LogLevels.names.entries()) {
        assert.strictEqual(LogLevels.passes(level, minimum), i >= j, `${level} where the minimum is ${minimum}`)
      }
    }
  })

  const levels = LogLevels.make({
    minimumLevel: "Information",
    override: {
      System: "Error",
      "layerhost.host": "Debug",
      "layerhost.host.request": "Warning",
      "layerhost:secretstore": "Verbose",
      "my-orders": "Fatal"
    }
  })

  const cases: ReadonlyArray<[rule: string, namespace: string, expected: LogLevels.LevelName]> = [
    ["a namespace without an override has the minimum level", "orders", "Information"],
    ["an override holds for its namespace", "System", "Error"],
    ["an override holds for what is below its namespace", "System.Net.Http", "Error"],
    ["case does not matter", "SYSTEM.net", "Error"],
    ["a prefix ends at a boundary", "Systematic", "Information"],
    ["the longest prefix wins", "layerhost.host.request", "Warning"],
    ["the longest prefix wins below itself too", "layerhost.host.request.body", "Warning"],
    ["a shorter prefix holds beside a longer one", "layerhost.host.health", "Debug"],
    ["a part of an override's namespace is not the override's", "layerhost", "Information"],
    ["a slash separates as a colon does", "layerhost/SecretStore", "Verbose"],
    ["below a slash", "layerhost/SecretStore/Files", "Verbose"],
    ["a hyphen is part of a segment", "my-orders/jobs", "Fatal"],
    ["a hyphen is no boundary", "my", "Information"],
    ["an empty namespace has the minimum level", "", "Information"]
  ]
  for (const [rule, namespace, expected] of cases) {
    it(`${rule}: ${namespace}`, () => {
      assert.strictEqual(levels.minimumOf(namespace), expected)
      assert.strictEqual(levels.minimumOf(namespace), expected, "the remembered answer")
    })
  }

  it("knows the lowest level of the table", () => {
    assert.strictEqual(levels.lowest, "Verbose")
    assert.strictEqual(LogLevels.make({ minimumLevel: "Error", override: {} }).lowest, "Error")
    assert.strictEqual(LogLevels.make({ minimumLevel: "Debug", override: { a: "Error" } }).lowest, "Debug")
  })

  it("answers alike for more namespaces than it remembers", () => {
    for (let i = 0; i < 5000; i++) {
      assert.strictEqual(levels.minimumOf(`orders.${i}`), "Information")
      assert.strictEqual(levels.minimumOf(`system.${i}`), "Error")
    }
  })
})
