import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Configuration from "../../../src/Host/Configuration/Configuration.ts"
import { findText, history } from "../../../src/Host/Configuration/ConfigurationTree.ts"
import { decode } from "../../../src/Host/Configuration/Decode.ts"
import { HostConfig } from "../../../src/Host/Configuration/HostConfig.ts"
import * as Section from "../../../src/Plugins/Section.ts"
import { type Files, layer, loadFiles, makeDirectory, values } from "./support.ts"

class Logging extends Section.Service<Logging>()("logging", {
  minimumLevel: Schema.Literals(["Verbose", "Debug", "Information", "Warning", "Error", "Fatal"]).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("Information"))
  ),
  override: Schema.Record(Schema.String, Schema.Literals(["Debug", "Error"])).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed({}))
  )
}) {}

class CorsPolicy extends Section.Service<CorsPolicy>()("CorsPolicy", {
  origins: Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(["*"])))
}) {}

const decoded = Effect.fnUntraced(function* (sources: Configuration.Sources) {
  const tree = yield* Configuration.load(sources)
  const sections = [HostConfig, Logging, CorsPolicy].map((section) => ({ section, owner: "test" }))
  const { services } = yield* decode(tree, sections)
  const all = services as typeof services &
    Parameters<typeof Effect.provideContext<HostConfig | Logging | CorsPolicy>>[0]
  return yield* Effect.all({ host: HostConfig, logging: Logging, cors: CorsPolicy }).pipe(Effect.provideContext(all))
})

/** Every file sets `winner` to its own name. */
const named = (...names: ReadonlyArray<string>): Files =>
  Object.fromEntries(names.map((name) => [name, { winner: name }]))

withLayer(layer)((test) => {
  describe("Sources load in this order; later ones override earlier ones", () => {
    const order = [
      "appsettings.json",
      "appsettings.yaml",
      "appsettings.yml",
      "appsettings.prod.json",
      "appsettings.prod.yaml",
      "appsettings.secrets.json",
      "appsettings.secrets.yaml",
      "appsettings.secrets.yml",
      "appsettings.prod.secrets.json",
      "appsettings.prod.secrets.yaml"
    ]
    for (const [index, name] of order.entries()) {
      test.effect(`${name} overrides all before it`, () =>
        Effect.gen(function* () {
          const tree = yield* loadFiles(named(...order.slice(0, index + 1)))
          assert.strictEqual(findText(tree.root, "winner"), name)
          assert.deepStrictEqual(
            history(tree.assignments, "winner").map(({ value }) => "text" in value && value.text),
            order.slice(0, index + 1)
          )
        })
      )
    }

    test.effect("environment variables override files, command-line arguments override both", () =>
      Effect.gen(function* () {
        const files = { "appsettings.a.secrets.yaml": { a: "file", b: "file", c: "file" } }
        const environment = { A: "variable", B: "variable" }
        const tree = yield* loadFiles(files, { environment, args: ["--a=argument"] })
        assert.deepStrictEqual(values(tree), { a: "argument", b: "variable", c: "file" })
      })
    )
  })

  describe("Rule 1", () => {
    test.effect("within each group files are sorted by node count", () =>
      Effect.gen(function* () {
        const names = ["appsettings.a.b.c.json", "appsettings.z.json", "appsettings.a.b.json", "appsettings.y.json"]
        const tree = yield* loadFiles(named(...names))
        assert.deepStrictEqual(
          tree.files.map((file) => file.slice(file.lastIndexOf("/") + 1)),
          ["appsettings.y.json", "appsettings.z.json", "appsettings.a.b.json", "appsettings.a.b.c.json"]
        )
      })
    )

    test.effect("secrets files always load after non-secrets files", () =>
      Effect.gen(function* () {
        const tree = yield* loadFiles(
          { ...named("appsettings.a.b.c.yaml"), "more/appsettings.secrets.json": { winner: "secret" } },
          { environment: { HOST_ADDITIONALCONFIGPATHS: "more" } }
        )
        assert.strictEqual(findText(tree.root, "winner"), "secret")
      })
    )

    test.effect(
      "files whose names do not start with appsettings are ignored, and so is what only looks like them",
      () =>
        Effect.gen(function* () {
          const tree = yield* loadFiles(
            named(
              "settings.json",
              "my.appsettings.json",
              "appsettingsx.json",
              "appsettings.txt",
              "appsettings",
              ".json"
            )
          )
          assert.deepStrictEqual(tree.files, [])
          assert.deepStrictEqual(tree.problems, [])
        })
    )
  })

  describe("Rule 2", () => {
    const files = {
      "appsettings.json": { winner: "main", main: 1 },
      "skipped/appsettings.json": { skipped: 1 },
      "extra/appsettings.json": { winner: "extra", extra: 1 },
      "extra/deep/er/appsettings.x.yml": "deep: 1",
      "extra/.old/appsettings.json": { hidden: 1 },
      "extra/node_modules/m/appsettings.json": { modules: 1 },
      "other/appsettings.json": { winner: "other", extra: 2 }
    }
    const expected = { deep: "1", extra: "2", main: "1", winner: "main" }

    for (const [title, sources] of Object.entries({
      "the environment variable HOST_ADDITIONALCONFIGPATHS": {
        environment: { HOST_ADDITIONALCONFIGPATHS: "extra,other" }
      },
      "a variable in another spelling": { environment: { host__additionalConfigPaths: " extra , other ," } },
      "the argument --HOST:ADDITIONALCONFIGPATHS": { args: ["--HOST:ADDITIONALCONFIGPATHS", "extra,other"] },
      "the argument in another spelling": { args: ["/host:additionalConfigPaths=extra,other"] },
      "the argument rather than the variable": {
        environment: { HOST_ADDITIONALCONFIGPATHS: "skipped" },
        args: ["host:additionalconfigpaths=extra,other"]
      }
    })) {
      test.effect(`files from additional config paths load before the main directory: ${title}`, () =>
        Effect.gen(function* () {
          const tree = yield* loadFiles(files, sources)
          const { host: _, ...found } = values(tree) as Record<string, string>
          const own = Object.entries(found).filter(([key]) => !key.startsWith("host:"))
          assert.deepStrictEqual(Object.fromEntries(own), expected)
        })
      )
    }

    test.effect(
      "additional config paths can be absolute, and a file that is found twice loads once, at its later place",
      () =>
        Effect.gen(function* () {
          const directory = yield* makeDirectory(files)
          const HOST_ADDITIONALCONFIGPATHS = `${directory}/extra,.`
          const tree = yield* Configuration.load({ directory, environment: { HOST_ADDITIONALCONFIGPATHS } })
          assert.strictEqual(new Set(tree.files).size, tree.files.length)
          assert.strictEqual(findText(tree.root, "winner"), "main")
          assert.strictEqual(findText(tree.root, "skipped"), "1")
        })
    )

    test.effect("additional config paths in a file have no effect, and a warning says so", () =>
      Effect.gen(function* () {
        const tree = yield* loadFiles({ ...files, "appsettings.yaml": "host: { additionalConfigPaths: extra }" })
        assert.strictEqual(findText(tree.root, "extra"), undefined)
        assert.match(String(tree.warnings[0]), /host:additionalConfigPaths: has no effect in a file/)
        assert.match(String(tree.warnings[0]), /appsettings\.yaml:1:32/)
      })
    )

    test.effect("a missing additional directory is an error that names the path", () =>
      Effect.gen(function* () {
        const tree = yield* loadFiles(files, { args: ["--HOST:ADDITIONALCONFIGPATHS=extra,/no/such/place"] })
        const error = yield* Effect.flip(decode(tree, []))
        assert.strictEqual(error._tag, "ConfigurationError")
        assert.deepStrictEqual(
          error.problems.map((problem) => problem.source),
          ["/no/such/place"]
        )
        assert.include(error.message, "/no/such/place: a directory of host:additionalConfigPaths does not exist")
      })
    )

    test.effect("links to folders are followed, also when they go round in a circle", () =>
      Effect.gen(function* () {
        const directory = yield* makeDirectory({ "target/appsettings.json": { linked: 1 }, "extra/x": "" })
        yield* Effect.promise(async () => {
          const { symlink } = await import("node:fs/promises")
          await symlink("../target", `${directory}/extra/link`)
          await symlink("../extra", `${directory}/extra/self`)
          await symlink("nowhere", `${directory}/extra/dangling`)
        })
        const tree = yield* Configuration.load({ directory, args: ["--host:additionalConfigPaths=extra"] })
        assert.deepStrictEqual(tree.problems, [])
        assert.strictEqual(findText(tree.root, "linked"), "1")
      })
    )
  })

  describe("Rule 3", () => {
    for (const [name, key] of [
      ["HOST_URLS", "host:urls"],
      ["HOST_MAXREQUESTSIZE", "host:maxRequestSize"],
      ["LOGGING_minimumLevel", "logging:minimumLevel"],
      ["LOGGING_OVERRIDE_SYSTEM", "logging:override:System"],
      ["HOST__URLS", "host:urls"],
      ["A__B_C", "a:b:c"]
    ] as const) {
      test.effect(`${name} gives ${key}`, () =>
        Effect.gen(function* () {
          const tree = yield* Configuration.load({ environment: { [name]: "x" } })
          assert.strictEqual(findText(tree.root, key), "x")
          assert.deepStrictEqual(Object.keys(values(tree)), [key.toLowerCase()])
        })
      )
    }

    test.effect("the examples reach their sections as numbers, levels and names", () =>
      Effect.gen(function* () {
        const environment = {
          HOST_URLS: "http://localhost:0",
          HOST_MAXREQUESTSIZE: "1024",
          LOGGING_minimumLevel: "debug",
          LOGGING_OVERRIDE_SYSTEM: "ERROR"
        }
        const { host, logging } = yield* decoded({ environment })
        assert.strictEqual(host.urls, "http://localhost:0")
        assert.strictEqual(host.maxRequestSize, 1024)
        assert.deepStrictEqual(logging, { minimumLevel: "Debug", override: { SYSTEM: "Error" } })
      })
    )

    test.effect("empty values are skipped", () =>
      Effect.gen(function* () {
        const tree = yield* Configuration.load({
          values: { host: { urls: "http://+:1" } },
          environment: { HOST_URLS: "", HOST: "", UNSET: undefined }
        })
        assert.deepStrictEqual(values(tree), { "host:urls": "http://+:1" })
      })
    )

    test.effect("a variable never erases a section", () =>
      Effect.gen(function* () {
        const { host, logging } = yield* decoded({
          values: { host: { urls: "http://+:1" }, logging: { override: { a: "Debug" } } },
          environment: { HOST: "my-machine", LOGGING: "on", LOGGING_OVERRIDE: "x", HOST_URLS_EXTRA: "x" }
        })
        assert.strictEqual(host.urls, "http://+:1")
        assert.deepStrictEqual(logging.override, { a: "Debug" })
      })
    )

    test.effect("unrelated variables do no harm", () =>
      Effect.gen(function* () {
        const environment = {
          PATH: "/bin",
          _: "/bin/node",
          __CF_USER: "x",
          A___B: "x",
          HOST_OF_THINGS: "x",
          LOGGING_X: "x",
          [`X${"_Y".repeat(50_000)}`]: "x",
          ["__proto__"]: "x",
          CONSTRUCTOR_PROTOTYPE: "x"
        }
        const { host } = yield* decoded({ environment })
        assert.strictEqual(host.urls, "http://+:8080")
        const tree = yield* Configuration.load({ environment })
        const { warnings } = yield* decode(tree, [{ section: HostConfig, owner: "test" }])
        assert.deepStrictEqual(warnings, [])
      })
    )
  })

  describe("Objects merge key by key", () => {
    test.effect("in any case", () =>
      Effect.gen(function* () {
        const tree = yield* loadFiles({
          "appsettings.json": { Mail: { Server: "a", Port: 1 } },
          "appsettings.yaml": "MAIL: { port: 2 }",
          "appsettings.x.json": { "mail:user": "u" }
        })
        assert.deepStrictEqual(values(tree), { "mail:port": "2", "mail:server": "a", "mail:user": "u" })
        assert.strictEqual(findText(tree.root, "mAIL:sErver"), "a")
      })
    )

    test.effect("an empty section erases nothing, a null takes a value back", () =>
      Effect.gen(function* () {
        const tree = yield* loadFiles({
          "appsettings.json": { mail: { server: "a", port: 1 }, list: [1] },
          "appsettings.yaml": "mail:\nlist:\n",
          "appsettings.x.yaml": "mail: { port: null }"
        })
        assert.deepStrictEqual(values(tree), { "mail:server": "a" })
      })
    )
  })

  describe("Lists", () => {
    const files = {
      "appsettings.json": { corsPolicy: { origins: ["a", "b", "c"] } },
      "appsettings.yaml": "CORSPOLICY:\n  ORIGINS: [d, e]"
    }
    for (const [title, sources, expected] of [
      ["a list in a later file replaces the earlier list whole", {}, ["d", "e"]],
      ["a variable sets one element by its index", { environment: { CORSPOLICY_ORIGINS_0: "x" } }, ["x", "e"]],
      ["an argument sets one element by its index", { args: ["--corsPolicy:origins:1=x"] }, ["d", "x"]],
      ["an index behind the end adds an element", { environment: { CORSPOLICY_ORIGINS_7: "x" } }, ["d", "e", "x"]]
    ] as const) {
      test.effect(title, () =>
        Effect.gen(function* () {
          const directory = yield* makeDirectory(files)
          const { cors } = yield* decoded({ directory, ...sources })
          assert.deepStrictEqual(cors.origins, expected)
        })
      )
    }

    test.effect("variables alone make a list", () =>
      Effect.gen(function* () {
        const environment = { CORSPOLICY_ORIGINS_10: "c", CORSPOLICY_ORIGINS_0: "a", CORSPOLICY_ORIGINS_2: "b" }
        const { cors } = yield* decoded({ environment })
        assert.deepStrictEqual(cors.origins, ["a", "b", "c"])
      })
    )

    test.effect("a variable with the name of a list is an error, not a list", () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(decoded({ environment: { CORSPOLICY_ORIGINS: "a,b" } }))
        assert.include(error.message, 'CorsPolicy:origins: expected a list, found "a,b"')
        assert.include(error.message, "CORSPOLICY_ORIGINS_0")
      })
    )
  })

  describe("Nothing is guessed from a text's looks", () => {
    class Guess extends Section.Service<Guess>()("guess", {
      text: Schema.String,
      flag: Schema.Boolean,
      number: Schema.Int
    }) {}
    for (const [title, sources] of [
      ["variables", { environment: { GUESS_TEXT: "007", GUESS_FLAG: "TRUE", GUESS_NUMBER: "007" } }],
      ["arguments", { args: ["--guess:text=007", "--guess:flag", "True", "guess:number=007"] }],
      ["YAML", { files: { "appsettings.yaml": "guess: { text: 007, flag: true, number: 007 }" } }],
      ["YAML texts", { files: { "appsettings.yaml": 'guess: { text: "007", flag: "True", number: "007" }' } }],
      ["JSON", { files: { "appsettings.json": { guess: { text: "007", flag: true, number: 7 } } } }],
      ["the program", { values: { guess: { text: "007", flag: true, number: 7 } } }]
    ] as const) {
      test.effect(title, () =>
        Effect.gen(function* () {
          const tree = yield* loadFiles("files" in sources ? sources.files : {}, "files" in sources ? {} : sources)
          const { services } = yield* decode(tree, [{ section: Guess, owner: "test" }])
          assert.deepStrictEqual(services.mapUnsafe.get(Guess.key), { text: "007", flag: true, number: 7 })
        })
      )
    }
  })

  describe("Keys such as __proto__ and constructor are plain data", () => {
    test.effect("from every source", () =>
      Effect.gen(function* () {
        const text = '{"__proto__": {"polluted": "1"}, "constructor": {"prototype": {"polluted": "2"}}}'
        const tree = yield* loadFiles(
          { "appsettings.json": text, "appsettings.yaml": text },
          { environment: { toString_polluted: "3" }, args: ["--__proto__:other=4"] }
        )
        assert.deepStrictEqual(
          new Map(Object.entries(values(tree))),
          new Map([
            ["__proto__:other", "4"],
            ["__proto__:polluted", "1"],
            ["constructor:prototype:polluted", "2"],
            ["tostring:polluted", "3"]
          ])
        )
        assert.strictEqual(({} as { polluted?: string }).polluted, undefined)
      })
    )

    test.effect("in a record of a section", () =>
      Effect.gen(function* () {
        class Names extends Section.Service<Names>()("names", { of: Schema.Record(Schema.String, Schema.String) }) {}
        const tree = yield* loadFiles({
          "appsettings.json": '{"names": {"of": {"__proto__": "x", "constructor": "y"}}}'
        })
        const { services } = yield* decode(tree, [{ section: Names, owner: "test" }])
        const names = services.mapUnsafe.get(Names.key) as { of: Record<string, string> }
        assert.deepStrictEqual(Object.entries(names.of), [
          ["__proto__", "x"],
          ["constructor", "y"]
        ])
      })
    )
  })
})
