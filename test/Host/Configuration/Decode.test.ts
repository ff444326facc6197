import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Configuration from "../../../src/Host/Configuration/Configuration.ts"
import { describeSource } from "../../../src/Host/Configuration/Assignment.ts"
import { history } from "../../../src/Host/Configuration/ConfigurationTree.ts"
import { decode } from "../../../src/Host/Configuration/Decode.ts"
import * as Section from "../../../src/Plugins/Section.ts"
import { type Files, layer, loadFiles } from "./support.ts"

type Sources = Omit<Configuration.Sources, "directory"> & { readonly files?: Files }

const decodeOne = Effect.fnUntraced(function* (section: Section.Any, { files = {}, ...sources }: Sources) {
  const tree = yield* Effect.orDie(loadFiles(files, sources))
  return yield* decode(tree, [{ section, owner: "test" }])
})

/** The fields of a section with one field `value`. */
const valueOf = Effect.fnUntraced(function* (schema: Schema.Codec<any, any>, sources: Sources) {
  class One extends Section.Service<One>()("one", { value: schema }) {}
  const { services } = yield* decodeOne(One, sources)
  return (services.mapUnsafe.get(One.key) as { value: unknown }).value
})

const messageOf = Effect.fnUntraced(function* (schema: Schema.Codec<any, any>, sources: Sources) {
  const error = yield* Effect.flip(valueOf(schema, sources))
  return error.problems[0]!.message
})

const value = (text: string): Sources => ({ environment: { ONE_VALUE: text } })

withLayer(layer)((test) => {
  describe("Values decode by the Schema, whatever form they came in", () => {
    for (const [title, schema, sources, expected] of [
      ["a number", Schema.Finite, value("1.5e3"), 1500],
      ["a number that only YAML writes so", Schema.Int, { files: { "appsettings.yaml": "one: { value: 0x1F }" } }, 31],
      [
        "a large integer",
        Schema.BigInt,
        { files: { "appsettings.json": '{"one:value": 12345678901234567890}' } },
        12345678901234567890n
      ],
      ["a boolean in capitals", Schema.Boolean, value("FALSE"), false],
      ["a literal in another case", Schema.Literals(["Debug", "Error"]), value("dEBUG"), "Debug"],
      ["a number literal", Schema.Literals([1, 2]), value("2"), 2],
      [
        "a literal beside a free text keeps the text",
        Schema.Union([Schema.Literal("Auto"), Schema.String]),
        value("auto"),
        "auto"
      ],
      ["a URL", Schema.URL, value("http://a/b"), new URL("http://a/b")],
      ["text that looks like a boolean", Schema.String, value("TRUE"), "TRUE"],
      ["a boolean of YAML as text", Schema.String, { files: { "appsettings.yaml": "one: { value: True }" } }, "True"],
      ["a union of values", Schema.Union([Schema.Int, Schema.Boolean]), value("True"), true],
      ["null where it is allowed", Schema.NullOr(Schema.String), { values: { one: { value: null } } }, null],
      [
        "null as absence",
        Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("d"))),
        { values: { one: { value: null } } },
        "d"
      ],
      ["a tuple", Schema.Tuple([Schema.Int, Schema.String]), { values: { one: { value: [1, 2] } } }, [1, "2"]],
      [
        "a list of sections",
        Schema.Array(Schema.Struct({ maxAge: Schema.Int })),
        { values: { one: { value: [{ MAXAGE: 1 }, { maxage: 2 }] } }, environment: { ONE_VALUE_1_MAXAGE: "3" } },
        [{ maxAge: 1 }, { maxAge: 3 }]
      ],
      [
        "a union of sections",
        Schema.Union([Schema.Struct({ fileName: Schema.String }), Schema.Struct({ port: Schema.Int })]),
        { values: { one: { value: { PORT: 1 } } } },
        { port: 1 }
      ],
      ["a section or a text", Schema.Union([Schema.Struct({ port: Schema.Int }), Schema.String]), value("x"), "x"],
      [
        "a record with joined names",
        Schema.Record(Schema.String, Schema.Int),
        {
          values: { one: { value: { "node:http": 1, a: { b: 2 }, "x.y/z": 3 } } },
          environment: { ONE_VALUE_A_B: "4", ONE_VALUE_X_Y: "5" }
        },
        { "node:http": 1, "a:b": 4, "x.y/z": 3, "X:Y": 5 }
      ],
      [
        "a record of sections",
        Schema.Record(Schema.String, Schema.Struct({ port: Schema.Int })),
        { values: { one: { value: { a: { Port: 1 } } } } },
        { a: { port: 1 } }
      ],
      [
        "anything",
        Schema.Unknown,
        { values: { one: { value: { A: [1, { b: null, c: true }] } } } },
        { A: ["1", { c: "true" }] }
      ],
      [
        "a renamed key",
        Schema.Struct({ a: Schema.Int }).pipe(Schema.encodeKeys({ a: "other" })),
        { values: { one: { value: { OTHER: 1 } } } },
        { a: 1 }
      ]
    ] as ReadonlyArray<[string, Schema.Codec<any, any>, Sources, unknown]>) {
      test.effect(title, () => Effect.map(valueOf(schema, sources), (found) => assert.deepEqual(found, expected)))
    }

    test.effect("a variable beside the elements of a list does not take them away", () =>
      Effect.gen(function* () {
        const environment = { ONE_VALUE_0: "1", ONE_VALUE_FOO: "x" }
        assert.deepStrictEqual(yield* valueOf(Schema.Array(Schema.Int), { environment }), [1])
      })
    )

    test.effect("null as an element", () =>
      Effect.gen(function* () {
        const sources = { values: { one: { value: [1, null, 3] } } }
        assert.deepStrictEqual(yield* valueOf(Schema.Array(Schema.NullOr(Schema.Int)), sources), [1, null, 3])
        const message = yield* messageOf(Schema.Array(Schema.Int), sources)
        assert.strictEqual(message, "expected a single value, found null")
      })
    )

    test.effect("a recursive section", () =>
      Effect.gen(function* () {
        interface Tree {
          readonly name: string
          readonly children: ReadonlyArray<Tree>
        }
        const Tree: Schema.Codec<Tree, any> = Schema.Struct({
          name: Schema.String,
          children: Schema.Array(Schema.suspend((): Schema.Codec<Tree, any> => Tree)).pipe(
            Schema.withDecodingDefaultKey(Effect.succeed([]))
          )
        })
        const found = yield* valueOf(Tree, { values: { one: { value: { Name: "a", CHILDREN: [{ NAME: "b" }] } } } })
        assert.deepStrictEqual(found, { name: "a", children: [{ name: "b", children: [] }] })
      })
    )
  })

  describe("What does not decode says what was expected", () => {
    for (const [title, schema, sources, expected] of [
      ["a number", Schema.Int, value("8MB"), 'expected a number, found "8MB"'],
      ["an integer", Schema.Int, value("1.5"), 'expected an integer, found "1.5"'],
      ["no NaN", Schema.Finite, value("NaN"), 'expected a number, found "NaN"'],
      ["a boolean", Schema.Boolean, value("yes"), 'expected true or false, found "yes"'],
      ["a level", Schema.Literals(["A", "B"]), value("c"), 'expected one of A, B, found "c"'],
      ["a URL", Schema.URL, value("http://user:hunter2@ x"), 'expected a URL, found "http://***@ x"'],
      ["a text", Schema.String, { values: { one: { value: { a: 1 } } } }, "expected a single value, found a section"],
      [
        "a section",
        Schema.Struct({ a: Schema.optionalKey(Schema.Int) }),
        { files: { "appsettings.json": { one: { value: 5 } } } },
        'expected a section with keys, found "5"'
      ],
      [
        "a section from an argument",
        Schema.Struct({ a: Schema.optionalKey(Schema.Int) }),
        { args: ["--one:value=5"] },
        'expected a section with keys, found "5"'
      ],
      [
        "a list",
        Schema.Array(Schema.Int),
        { values: { one: { value: { a: 1 } } } },
        "expected a list, found a section"
      ],
      [
        "a list from an argument",
        Schema.Array(Schema.Int),
        { args: ["--one:value=5"] },
        'expected a list, found "5"; set its elements one by one: --one:value:0=…, --one:value:1=…'
      ],
      [
        "one of several",
        Schema.Union([Schema.Int, Schema.Boolean]),
        value("x"),
        'expected a number or true or false, found "x"'
      ],
      ["a value at all", Schema.String, {}, "is not set, and has no default"],
      [
        "the author's own words",
        Schema.String.check(Schema.makeFilter(() => "must rhyme")),
        value("x"),
        'must rhyme, found "x"'
      ],
      ["a long text is cut", Schema.Int, value("x".repeat(1000)), `expected a number, found "${"x".repeat(60)}…"`]
    ] as ReadonlyArray<[string, Schema.Codec<any, any>, Sources, string]>) {
      test.effect(title, () => Effect.map(messageOf(schema, sources), (found) => assert.strictEqual(found, expected)))
    }
  })

  test.effect("where a file could not be read, what is missing may stand in it and is not complained of", () =>
    Effect.gen(function* () {
      class Pair extends Section.Service<Pair>()("pair", { a: Schema.Int, b: Schema.Int }) {}
      const files = { "appsettings.json": "{", "appsettings.yaml": "pair: { a: x }" }
      const error = yield* Effect.flip(decodeOne(Pair, { files }))
      assert.deepStrictEqual(
        error.problems.map((problem) => problem.key),
        [null, "pair:a"]
      )
    })
  )

  test.effect("what is missing in a section is not blamed on a variable with the name of the section", () =>
    Effect.gen(function* () {
      class Pair extends Section.Service<Pair>()("pair", { a: Schema.Int }) {}
      const sources = { values: { pair: {} }, environment: { PAIR: "x" } }
      const error = yield* Effect.flip(decodeOne(Pair, sources))
      assert.strictEqual(error.problems[0]?.source, "values of the program")
    })
  )

  test.effect("values of the program are plain data", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(loadFiles({}, { values: { a: { b: new Date(0) } } }))
      assert.include(String(exit), "a:b cannot be set to a class instance")
    })
  )

  describe("Secret values never appear", () => {
    class Secrets extends Section.Service<Secrets>()("secretstore", {
      plain: Schema.Int,
      redacted: Schema.RedactedFromValue(Schema.String.check(Schema.isMinLength(100))),
      nested: Schema.RedactedFromValue(Schema.Struct({ inner: Schema.Int })),
      quoting: Schema.RedactedFromValue(Schema.String.check(Schema.makeFilter((text) => `${text} is bad`))),
      accessToken: Schema.Int,
      connectionStrings: Schema.Array(Schema.Int),
      fromSecretsFile: Schema.Int
    }) {}
    const files: Files = {
      "appsettings.yaml": `
secretstore:
  plain: visible
  redacted: canary1
  nested: { inner: canary2 }
  quoting: canary3
  accessToken: canary4
  connectionStrings: [canary5]`,
      "appsettings.secrets.json": { secretstore: { fromSecretsFile: "canary6" } }
    }

    test.effect("in the report", () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(decodeOne(Secrets, { files }))
        assert.strictEqual(error.problems.length, 7)
        for (const shown of [error.message, JSON.stringify(error), String(error), error.stack ?? ""]) {
          assert.notMatch(shown, /canary/)
        }
        assert.include(error.message, 'secretstore:plain: expected a number, found "visible"')
        assert.include(error.message, "found a value that is not shown")
        assert.include(error.message, "secretstore:quoting: the value is not valid")
      })
    )

    test.effect("by their names alone where the Schema takes no text: numbers and switches are shown there", () =>
      Effect.gen(function* () {
        class Tokens extends Section.Service<Tokens>()("tokens", {
          tokenLimit: Schema.Int,
          tokenCache: Schema.Boolean,
          password: Schema.String.check(Schema.isMinLength(9)),
          seed: Schema.RedactedFromValue(Schema.Int)
        }) {}
        const found = (key: string, value: string) =>
          Effect.map(
            Effect.flip(decodeOne(Tokens, { values: { tokens: { tokenLimit: 1, tokenCache: true, [key]: value } } })),
            ({ problems }) => problems.find((problem) => problem.key === `tokens:${key}`)?.message.replace(/.*, /, "")
          )
        assert.strictEqual(yield* found("tokenLimit", "1.5"), 'found "1.5"')
        assert.strictEqual(yield* found("tokenLimit", "5m"), 'found "5m"')
        assert.strictEqual(yield* found("tokenCache", "yes"), 'found "yes"')
        assert.strictEqual(yield* found("tokenCache", "hunter2"), "found a value that is not shown")
        assert.strictEqual(yield* found("password", "1234"), "found a value that is not shown")
        assert.strictEqual(yield* found("seed", "1.5"), "found a value that is not shown")
      })
    )

    test.effect("as the user and the password of a URL, however malformed that is", () =>
      Effect.gen(function* () {
        const Url = Schema.String.check(Schema.makeFilter((text) => `${text} is no URL`))
        for (const [value, expected] of [
          ["http://u:canary@host/x", "http://***@host/x is no URL"],
          ["http://u:can/ary@host", "http://***@host is no URL"],
          ["u:canary@host:4318", "***@host:4318 is no URL"],
          ["u:canary", "u:*** is no URL"],
          ["localhost:4318/v1", "localhost:4318/v1 is no URL"],
          ["http://[::1]:80a", "http://[::1]:80a is no URL"]
        ]) {
          const found = yield* messageOf(Url, { values: { one: { value } } })
          assert.isTrue(found?.startsWith(expected!), found)
          assert.notInclude(found, "canary")
          assert.notInclude(found, "ary")
        }
      })
    )

    test.effect("of another key in the words of the section", () =>
      Effect.gen(function* () {
        const pair = Schema.Struct({ password: Schema.RedactedFromValue(Schema.String), again: Schema.String }).check(
          Schema.makeFilter(({ password }) => `${Redacted.value(password)} is not repeated`)
        )
        const found = yield* messageOf(pair, { values: { one: { value: { password: "canary", again: "x" } } } })
        assert.strictEqual(found, "the value is not valid, found a section")
      })
    )
  })

  describe("Unknown keys", () => {
    class Mail extends Section.Service<Mail>()("mail", {
      server: Schema.optionalKey(Schema.String),
      portNumber: Schema.optionalKey(Schema.Int),
      tls: Schema.optionalKey(Schema.Struct({ certificate: Schema.optionalKey(Schema.String) }))
    }) {}
    class MailQueue extends Section.Service<MailQueue>()("mail:queue:redis", {
      size: Schema.optionalKey(Schema.Int)
    }) {}
    const sections = [Mail, MailQueue].map((section) => ({ section, owner: "mailer" }))
    const warningsOf = Effect.fnUntraced(function* ({ files = {}, ...sources }: Sources) {
      const { warnings } = yield* decode(yield* loadFiles(files, sources), sections)
      return warnings.map(
        ({ key, message, owner, source }) => `${key} | ${message} | ${source?.replace(/^.*\//, "")} | ${owner}`
      )
    })

    test.effect("in a file are warned of, with the nearest known key", () =>
      Effect.gen(function* () {
        const yaml = "mail:\n  sever: x\n  PORTNUMER: 1\n  tls: { certificat: x }\n  zebra: [1]\nother: { mail: 1 }"
        assert.deepStrictEqual(yield* warningsOf({ files: { "appsettings.yaml": yaml } }), [
          "mail:sever | unknown key; did you mean mail:server? | appsettings.yaml:2:10 | mailer",
          "mail:PORTNUMER | unknown key; did you mean mail:portNumber? | appsettings.yaml:3:14 | mailer",
          "mail:tls:certificat | unknown key; did you mean mail:tls:certificate? | appsettings.yaml:4:22 | mailer",
          "mail:zebra | unknown key; expected one of server, portNumber, tls, queue | appsettings.yaml:5:3 | mailer"
        ])
      })
    )

    test.effect("below a plain value are warned of", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* warningsOf({ args: ["--mail:server:name=x"] }), [
          "mail:server:name | unknown key; expected no key here | argument --mail:server:name | mailer"
        ])
      })
    )

    test.effect("in a variable are warned of only when they come near a known key", () =>
      Effect.gen(function* () {
        const environment = { MAIL_SERVR: "x", MAIL_ZEBRA: "x", MAIL: "x", MAIL_SERVER_X: "x" }
        assert.deepStrictEqual(yield* warningsOf({ environment }), [
          "mail:servr | unknown key; did you mean mail:server? | environment variable MAIL_SERVR | mailer"
        ])
      })
    )

    test.effect("are also sections that nobody has, where a key in them makes out which was meant", () =>
      Effect.gen(function* () {
        const yaml =
          "mial: { server: x }\nmale: { zebra: 1 }\nother: { server: x }\nMail: { queu: { redis: { size: 1 } } }"
        const environment = { MAILL_PORTNUMBER: "1", MAILS: "x", MALL_X: "x" }
        assert.deepStrictEqual(yield* warningsOf({ files: { "appsettings.yaml": yaml }, environment }), [
          "mial | unknown section; did you mean mail? | appsettings.yaml:1:1 | mailer",
          "maill | unknown section; did you mean mail? | environment variable MAILL_PORTNUMBER | mailer",
          "mail:queu | unknown key; did you mean mail:queue? | appsettings.yaml:4:9 | mailer"
        ])
      })
    )

    test.effect("are not those of a section below, which belong to it", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* warningsOf({ values: { Mail: { Queue: { Redis: { size: 1, sise: 2 } } } } }), [
          "mail:queue:redis:sise | unknown key; did you mean mail:queue:redis:size? | values of the program | mailer"
        ])
      })
    )
  })

  test.effect("every value keeps all the sources that set it, in order", () =>
    Effect.gen(function* () {
      const tree = yield* loadFiles(
        {
          "appsettings.json": { mail: { server: "a" } },
          "appsettings.yaml": "mail: { SERVER: b }",
          "appsettings.secrets.yaml": "mail:server: c"
        },
        { environment: { MAIL_SERVER: "d" }, args: ["--mail:server", "e"] }
      )
      assert.deepStrictEqual(
        history(tree.assignments, "Mail:Server").map(({ source }) => describeSource(source).replace(/^.*\//, "")),
        [
          "appsettings.json:1:19",
          "appsettings.yaml:1:17",
          "appsettings.secrets.yaml:1:14",
          "environment variable MAIL_SERVER",
          "argument --mail:server"
        ]
      )
    })
  )

  test.effect("a section that cannot be read from text is a fault of the program that names the section", () =>
    Effect.gen(function* () {
      class Odd extends Section.Service<Odd>()("odd", {
        date: Schema.instanceOf(Set) as unknown as Schema.Codec<Set<unknown>>
      }) {}
      const exit = yield* Effect.exit(decodeOne(Odd, {}))
      assert.include(String(exit), 'The section "odd" has a field that cannot be read')
    })
  )
})
