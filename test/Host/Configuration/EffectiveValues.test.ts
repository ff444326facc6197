import { assert, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as EffectiveValues from "../../../src/Host/Configuration/EffectiveValues.ts"
import * as Explanation from "../../../src/Host/Configuration/Explanation.ts"
import * as Section from "../../../src/Plugins/Section.ts"
import { layer, loadFiles } from "./support.ts"

const text = (value: string) => Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

class Mail extends Section.Service<Mail>()("mail", {
  server: text("localhost").annotateKey({ description: "Where mail goes." }),
  port: Schema.Int,
  mode: Schema.optionalKey(Schema.Literals(["Direct", "Queue"])),
  recipients: Schema.Array(Schema.Struct({ address: Schema.String })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed([{ address: "root" }]))
  ),
  login: Schema.RedactedFromValue(Schema.Struct({ user: Schema.String, secondFactor: Schema.String })).pipe(
    Schema.optionalKey
  ),
  headers: Schema.Array(Schema.Struct({ value: Schema.RedactedFromValue(Schema.String) })).pipe(Schema.optionalKey),
  limits: Schema.Record(Schema.String, Schema.Int).pipe(Schema.optionalKey),
  retry: Schema.Struct({ times: Schema.optionalKey(Schema.Int), pause: text("1s"), jitter: text("none") }).pipe(
    Schema.optionalKey
  )
}) {}
const sections = [{ section: Mail, owner: "mailer" }]

const withoutDirectory = (source: string | null) => source?.replace(/^\/.*\//, "") ?? null

const rows = (tree: Parameters<typeof EffectiveValues.list>[0]) =>
  EffectiveValues.list(tree, sections).map(
    ({ key, plugin, source, value }) => `${key} = ${value} | ${withoutDirectory(source)} | ${plugin}`
  )

withLayer(layer)((test) => {
  test.effect("every key has its value and the source that wins; what is not set its default", () =>
    Effect.gen(function* () {
      const tree = yield* loadFiles(
        {
          "appsettings.yaml": "MAIL: { PORT: 25, Limits: { a: { b: 1 } } }",
          "appsettings.json": { mail: { port: 24 } }
        },
        { environment: { MAIL_SERVER: "a", PATH: "/bin" }, args: ["--mail:mode=direct"] }
      )
      assert.deepStrictEqual(rows(tree), [
        "mail:server = a | environment variable MAIL_SERVER | mailer",
        "mail:port = 25 | appsettings.yaml:1:15 | mailer",
        "mail:mode = direct | argument --mail:mode | mailer",
        'mail:recipients = [{"address":"root"}] | default | mailer',
        "mail:login = null | null | mailer",
        "mail:headers = null | null | mailer",
        "mail:limits:a:b = 1 | appsettings.yaml:1:37 | mailer",
        "mail:retry = null | null | mailer"
      ])
    })
  )

  test.effect("what is set of a key in part has the defaults of the rest, and they are explained", () =>
    Effect.gen(function* () {
      const tree = yield* loadFiles({}, { environment: { MAIL_RETRY_PAUSE: "2s" } })
      assert.deepStrictEqual(
        rows(tree).filter((row) => row.startsWith("mail:retry")),
        [
          "mail:retry:pause = 2s | environment variable MAIL_RETRY_PAUSE | mailer",
          "mail:retry:jitter = none | default | mailer"
        ]
      )
      const defaultOf = (key: string) => Explanation.explain(tree, sections, key).default
      assert.deepStrictEqual(["MAIL:retry:pause", "mail:retry:times", "mail:server", "mail:x"].map(defaultOf), [
        "1s",
        null,
        "localhost",
        null
      ])
    })
  )

  test.effect("keys that no section has are listed where anything but a variable sets them", () =>
    Effect.gen(function* () {
      const tree = yield* loadFiles(
        {
          "appsettings.yaml":
            "mail: { recipients: [], srver: x }\ndatabase: { url: 'http://me:canary@db', pool: [1, 2] }"
        },
        { environment: { DATABASE_POOL_0: "9", DATABASE_OTHER: "x" }, args: ["--feature=on"] }
      )
      assert.deepStrictEqual(
        rows(tree).filter((row) => !row.includes("null |")),
        [
          "mail:server = localhost | default | mailer",
          "mail:recipients = [] | appsettings.yaml:1:9 | mailer",
          "mail:srver = x | appsettings.yaml:1:32 | null",
          "database:url = http://***@db | appsettings.yaml:2:18 | null",
          "database:pool:0 = 9 | environment variable DATABASE_POOL_0 | null",
          "database:pool:1 = 2 | appsettings.yaml:2:51 | null",
          "feature = on | argument --feature | null"
        ]
      )
    })
  )

  test.effect("secrets are masked, wherever they stand", () =>
    Effect.gen(function* () {
      const tree = yield* loadFiles(
        {
          "appsettings.json": {
            mail: {
              headers: [{ value: "canary" }, { value: "canary" }],
              login: { user: "canary", secondFactor: "canary" }
            },
            tokens: { a: "canary" },
            other: { apiKey: "canary" }
          },
          "appsettings.secrets.json": { mail: { server: "canary" }, anything: "canary" },
          "appsettings.yaml": "mail: { logn: { user: canary }, logi: canary, headers: [{ value: canary }] }"
        },
        { environment: { MAIL_LOGIN_USER: "canary" }, args: ["--mail:login:secondFactor=canary", "--password=canary"] }
      )
      const listed = EffectiveValues.list(tree, sections)
      assert.isAbove(listed.filter(({ value }) => value === "<redacted>").length, 7)
      assert.notInclude(JSON.stringify(listed), "canary")
      for (const key of ["mail", "tokens", "other", "anything", "password", "mail:headers:1", "mail:login"]) {
        const { sources } = Explanation.explain(tree, sections, key)
        assert.isAbove(sources.length, 0)
        assert.notInclude(JSON.stringify(sources), "canary")
      }
    })
  )

  test.effect("a key that is set in five places is explained with all of them, in order", () =>
    Effect.gen(function* () {
      const tree = yield* loadFiles(
        {
          "appsettings.json": { mail: { server: "a" } },
          "appsettings.yaml": "mail: { SERVER: b }",
          "appsettings.secrets.yaml": "mail:server: c"
        },
        { environment: { MAIL_SERVER: "d" }, args: ["--mail:server", "e"] }
      )
      const { sources, ...about } = Explanation.explain(tree, sections, "MAIL:server")
      assert.deepStrictEqual(about, {
        key: "mail:server",
        plugin: "mailer",
        description: "Where mail goes.",
        expected: "a text",
        default: "localhost",
        suggestion: null
      })
      assert.deepStrictEqual(
        sources.map(({ source, value, wins }) => `${withoutDirectory(source)} ${value}${wins ? " wins" : ""}`),
        [
          "appsettings.json:1:19 a",
          "appsettings.yaml:1:17 b",
          "appsettings.secrets.yaml:1:14 <redacted>",
          "environment variable MAIL_SERVER d",
          "argument --mail:server e wins"
        ]
      )
    })
  )

  test.effect("a list that replaces another, and a null that takes a value back, win", () =>
    Effect.gen(function* () {
      const tree = yield* loadFiles({
        "appsettings.json": { mail: { recipients: [{ address: "a" }, { address: "b" }], server: "x" } },
        "appsettings.yaml": "mail: { recipients: [{ address: c }], server: null }"
      })
      const sourcesOf = (key: string) =>
        Explanation.explain(tree, sections, key).sources.map(
          ({ key, kind, value, wins }) => `${key} ${value ?? kind}${wins ? " wins" : ""}`
        )
      assert.deepStrictEqual(sourcesOf("mail:recipients"), [
        "mail:recipients list",
        "mail:recipients:0:address a",
        "mail:recipients:1:address b",
        "mail:recipients list wins",
        "mail:recipients:0:address c wins"
      ])
      assert.deepStrictEqual(sourcesOf("mail:server"), ["mail:server x", "mail:server null wins"])
    })
  )

  test.effect("a key that no section has and nothing sets has the nearest one beside it", () =>
    Effect.gen(function* () {
      const tree = yield* loadFiles({})
      const about = (key: string) => Explanation.explain(tree, sections, key)
      assert.strictEqual(about("mail:sever").suggestion, "mail:server")
      assert.strictEqual(about("mial").suggestion, "mail")
      assert.strictEqual(about("zebra").suggestion, null)
      assert.deepStrictEqual([about("mail:mode").plugin, about("mail:mode").default], ["mailer", null])
      assert.strictEqual(about("mail:limits:a:b").expected, "a number")
    })
  )
})
