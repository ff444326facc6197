import { assert, layer as withLayer } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { layer, loadFiles, values } from "./support.ts"

type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [key: string]: Json }

/** What SPEC.md and DECISIONS.md say, done in the plainest way over a flat map of keys in lower case. */
class Model {
  readonly state = new Map<string, string>()
  private readonly lists = new Set<string>()

  static order(paths: ReadonlyArray<string>): ReadonlyArray<string> {
    const groups: ReadonlyArray<(name: string) => boolean> = [
      (name) => name === "appsettings.json",
      (name) => name === "appsettings.yaml" || name === "appsettings.yml",
      (name) => /^appsettings\..+\.json$/.test(name) && !name.includes(".secrets."),
      (name) => /^appsettings\..+\.ya?ml$/.test(name) && !name.includes(".secrets."),
      (name) => /^appsettings\.secrets\.(json|yaml|yml)$/.test(name),
      (name) => /^appsettings\..+\.secrets\.(json|yaml|yml)$/.test(name)
    ]
    const directories: ReadonlyArray<(path: string) => boolean> = [
      (path) => path.startsWith("other/"),
      (path) => path.startsWith("extra/"),
      (path) => !path.includes("/")
    ]
    return groups.flatMap((inGroup) =>
      directories.flatMap((inDirectory) =>
        paths
          .filter((path) => inDirectory(path) && inGroup(path.slice(path.lastIndexOf("/") + 1)))
          .toSorted()
          .toSorted((a, b) => a.split("/").at(-1)!.split(".").length - b.split("/").at(-1)!.split(".").length)
      )
    )
  }

  private dropBelow(key: string) {
    for (const each of this.state.keys()) if (each.startsWith(`${key}:`)) this.state.delete(each)
    for (const each of this.lists) if (each === key || each.startsWith(`${key}:`)) this.lists.delete(each)
  }

  file(content: Json, key = ""): void {
    if (content === null) {
      const isSection = !this.lists.has(key) && [...this.state.keys()].some((each) => each.startsWith(`${key}:`))
      if (isSection) return
      this.dropBelow(key)
      this.state.delete(key)
    } else if (Array.isArray(content)) {
      this.dropBelow(key)
      this.state.delete(key)
      this.lists.add(key)
      content.forEach((item, i) => this.file(item, `${key}:${i}`))
    } else if (typeof content === "object") {
      if (this.lists.has(key)) this.dropBelow(key)
      this.state.delete(key)
      for (const [name, value] of Object.entries(content)) {
        this.file(value, (key === "" ? name : `${key}:${name}`).toLowerCase())
      }
    } else {
      this.dropBelow(key)
      this.state.set(key, String(content))
    }
  }

  text(key: string, value: string): void {
    this.state.set(key.toLowerCase(), value)
  }
}

const Name = Schema.Literals(["a", "A", "b", "c", "C", "0", "1"])
const Scalar = Schema.Union([Schema.Literals(["x", "y", "", 1, true]), Schema.Null])
const upTo = <S extends Schema.Constraint>(length: number, item: S) =>
  Schema.Array(item).check(Schema.isMaxLength(length))
const List = Schema.Struct({ list: upTo(3, Scalar) })
const section = <S extends Schema.Constraint>(value: S) =>
  Schema.Struct({ section: upTo(3, Schema.Tuple([Name, value])) })
const Inner = Schema.Union([Scalar, List, section(Scalar)])
const Content = section(Schema.Union([Scalar, List, section(Inner)]))

const Key = Schema.Array(Name).check(Schema.isMinLength(1), Schema.isMaxLength(4))
const Input = Schema.Struct({
  files: upTo(
    6,
    Schema.Tuple([
      Schema.Literals(["", "extra/", "extra/sub/", "other/"]),
      Schema.Literals(["", ".x", ".y", ".x.y"]),
      Schema.Literals(["", ".secrets"]),
      Schema.Literals([".json", ".yaml", ".yml"]),
      Content
    ])
  ),
  environment: upTo(4, Schema.Tuple([Key, Schema.Literals(["_", "__"]), Schema.Literals(["", "v", "w"])])),
  args: upTo(
    4,
    Schema.Tuple([Key, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 })), Schema.Literals(["p", "q"])])
  )
})

const toJson = (value: unknown): Json => {
  const { list, section: entries } = Object(value) as { list?: Array<unknown>; section?: Array<[string, unknown]> }
  if (list !== undefined) return list.map(toJson)
  if (entries === undefined) return value as Json
  const seen = new Set<string>()
  const once = entries.filter(([name]) => !seen.has(name.toLowerCase()) && seen.add(name.toLowerCase()))
  return Object.fromEntries(once.map(([name, each]) => [name, toJson(each)]))
}

const spell = (key: string, spelling: number, value: string): ReadonlyArray<string> =>
  [[`--${key}`, value], [`--${key}=${value}`], [`/${key}`, value], [`/${key}=${value}`], [`${key}=${value}`]][spelling]!

withLayer(layer)((test) => {
  test.effect("for random files, variables and arguments the winner of each key is that of the reference model", () =>
    Effect.gen(function* () {
      const result = yield* Arbitrary.checkEffect(
        Arbitrary.schema(Input),
        (input) =>
          Effect.gen(function* () {
            const files = Object.fromEntries(
              input.files.map(([directory, nodes, secrets, extension, content]) => [
                `${directory}appsettings${nodes}${secrets}${extension}`,
                toJson(content) as object
              ])
            )
            const environment = Object.fromEntries(
              input.environment.map(([key, separator, value]) => [key.join(separator), value])
            )
            const args = input.args.map(([key, spelling, value]) => ({ key: key.join(":"), spelling, value }))

            const model = new Model()
            for (const path of Model.order(Object.keys(files))) model.file(files[path] as Json)
            for (const name of Object.keys(environment).toSorted()) {
              if (environment[name] !== "") model.text(name.replace(/_+/g, ":"), environment[name]!)
            }
            for (const { key, value } of args) model.text(key, value)
            model.text("host:additionalconfigpaths", "other,extra")

            const tree = yield* loadFiles(
              { ...files, "other/.keep": "", "extra/.keep": "" },
              {
                environment: { ...environment, HOST_ADDITIONALCONFIGPATHS: "other,extra" },
                args: args.flatMap(({ key, spelling, value }) => spell(key, spelling, value))
              }
            )
            assert.deepStrictEqual(tree.problems, [])
            const expected = Object.fromEntries([...model.state].toSorted(([a], [b]) => (a < b ? -1 : 1)))
            assert.deepStrictEqual(values(tree), expected)
            return true
          }).pipe(
            Effect.scoped,
            Effect.catchDefect((defect) => Effect.fail(defect))
          ),
        { runs: 300 }
      )
      assert.isUndefined(Arbitrary.formatCheckFailure(result))
    })
  )
})
