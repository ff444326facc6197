import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../../../src/Host/Configuration/CommandLine.ts"
import * as Environment from "../../../src/Host/Configuration/Environment.ts"

const read = (...args: ReadonlyArray<string>) =>
  CommandLine.read(args).assignments.map(({ path, source, value }) => [
    path.join(":"),
    "text" in value ? value.text : undefined,
    "name" in source ? source.name : undefined
  ])

describe("Command line", () => {
  for (const [title, args, expected] of [
    ["--key value", ["--host:urls", "x"], [["host:urls", "x", "--host:urls"]]],
    ["--key=value", ["--host:urls=x"], [["host:urls", "x", "--host:urls"]]],
    ["/key value", ["/host:urls", "x"], [["host:urls", "x", "/host:urls"]]],
    ["/key=value", ["/host:urls=x"], [["host:urls", "x", "/host:urls"]]],
    ["key=value", ["host:urls=x"], [["host:urls", "x", "host:urls"]]],
    ["only the first = parts key and value", ["--a=b=c"], [["a", "b=c", "--a"]]],
    ["an empty value after = is a value", ["--a="], [["a", "", "--a"]]],
    ["an empty argument is a value", ["--a", ""], [["a", "", "--a"]]],
    ["a path is a value", ["--a", "/etc/app"], [["a", "/etc/app", "--a"]]],
    ["a negative number is a value", ["--a", "-5"], [["a", "-5", "--a"]]],
    ["a switch does not swallow the next key", ["--watch", "--a=1"], [["a", "1", "--a"]]],
    ["a path is no key", ["/usr/bin/x", "a=1"], [["a", "1", "a"]]],
    ["what is no key and no value sets nothing", ["run", "-v", "-x=1", "--", "=x", "--=x", "/", "-", ""], []],
    [
      "the last one stands last",
      ["--a=1", "/A=2"],
      [
        ["a", "1", "--a"],
        ["A", "2", "/A"]
      ]
    ]
  ] as const) {
    it(title, () => assert.deepStrictEqual(read(...args), expected as unknown as ReturnType<typeof read>))
  }

  it("a key of several parts without a value is a problem", () => {
    for (const args of [["--host:urls"], ["--host:urls", "--a=1"], ["/host:urls"]]) {
      const { problems } = CommandLine.read(args)
      assert.deepStrictEqual(
        problems.map(({ key, source, expected }) => [key, source, expected]),
        [["host:urls", `argument ${args[0]}`, "a value"]]
      )
    }
    assert.deepStrictEqual(CommandLine.read(["--watch"]).problems, [])
  })

  it("what sets nothing is warned of by its place, since it may be a secret without its key", () => {
    const { warnings } = CommandLine.read(["--a", "1", "canary", "-pcanary", "/etc/canary", "--", "--watch"])
    assert.deepStrictEqual(
      warnings.map(({ source }) => source),
      ["argument 3", "argument 4", "argument 5", "argument --watch"]
    )
    assert.include(String(warnings[0]), "expected --key value, --key=value")
    assert.include(String(warnings[3]), "the argument has no value; write --watch <value> or --watch=<value>")
    assert.notMatch(JSON.stringify(warnings), /canary/)
    assert.deepStrictEqual(CommandLine.read(["--a=1", "/b", "2", "c=3", "--"]).warnings, [])
  })
})

describe("Environment", () => {
  it("a double underscore counts as one, each underscore parts the key", () => {
    assert.deepStrictEqual(Environment.toPath("A_B__C___D"), ["A", "B", "C", "", "D"])
  })

  it("of several names of one key the last by name wins, whatever their order", () => {
    for (const variables of [
      { A_b: "1", A__B: "2", A_B: "3" },
      { A_B: "3", A_b: "1", A__B: "2" }
    ]) {
      assert.deepStrictEqual(
        Environment.assignments(variables).map(({ source }) => "name" in source && source.name),
        ["A_B", "A__B", "A_b"]
      )
    }
  })
})
