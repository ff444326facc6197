import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as TreeConfigProvider from "../../../src/Host/Configuration/TreeConfigProvider.ts"
import { layer, loadFiles } from "./support.ts"

withLayer(layer)((test) => {
  describe("Effect's own Config reads the merged tree", () => {
    const read = <A>(config: Config.Config<A>) =>
      Effect.gen(function* () {
        const tree = yield* loadFiles(
          {
            "appsettings.yaml": `
Mail: { Server: a, port: 25, secure: true, to: [x, y], password: 007, nothing: ~ }
plain_name: file
list: [{ name: a }]`
          },
          { environment: { MAIL_PORT: "26", DATABASE_URL: "db", MAIL_TO_5: "z", HOME: "/root" } }
        )
        return yield* Effect.provide(config, TreeConfigProvider.layer(tree))
      })

    for (const [title, config, expected] of [
      ["a path in any case", Config.String("MAIL:SERVER"), "a"],
      ["nested", Config.Int("PORT").pipe(Config.nested("mail")), 26],
      ["a variable by its name", Config.String("DATABASE_URL"), "db"],
      ["a variable that overrides a file", Config.String("MAIL_PORT"), "26"],
      ["a variable of one part", Config.String("HOME"), "/root"],
      ["a key with an underscore", Config.String("PLAIN_NAME"), "file"],
      ["a boolean", Config.Boolean("mail:secure"), true],
      ["a list", Config.Array(Schema.String, "mail:to"), ["x", "y", "z"]],
      ["a secret", Config.map(Config.Redacted("mail:password"), Redacted.value), "007"],
      ["a default where nothing stands", Config.withDefault(Config.String("mail:other"), "d"), "d"],
      ["a default where null stands", Config.withDefault(Config.String("mail:nothing"), "d"), "d"],
      [
        "a schema",
        Config.schema(Schema.Struct({ server: Schema.String, port: Schema.Int }), "mail"),
        { server: "a", port: 26 }
      ],
      ["a record", Config.schema(Schema.Record(Schema.String, Schema.String), "database"), { URL: "db" }],
      [
        "a list of sections",
        Config.schema(Schema.Array(Schema.Struct({ name: Schema.String })), "list"),
        [{ name: "a" }]
      ]
    ] as ReadonlyArray<[string, Config.Config<unknown>, unknown]>) {
      test.effect(title, () => Effect.map(read(config), (found) => assert.deepStrictEqual(found, expected)))
    }
  })
})
