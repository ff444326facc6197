import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { plugins } from "../../../examples/credentials/src/plugins.generated.ts"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as PluginApi from "../../../src/Plugins/PluginApi.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import { things } from "../Http/support/things.ts"

/** A plugin whose names are those of others: of operations, of schemas, of path parameters. */
const clashing = <const Id extends string>(id: Id, Thing: Schema.Codec<{}>) => {
  const Api = HttpApi.make("things").add(
    HttpApiGroup.make("things").add(
      HttpApiEndpoint.get("get", `/${id}/:id`, { params: { id: Schema.String }, success: Thing }),
      HttpApiEndpoint.put("put", `/${id}/:name`, { params: { name: Schema.String }, payload: Thing, success: Thing })
    )
  )
  const fail = () => Effect.die("never called")
  const handlers = HttpApiBuilder.group(Api, "things", (handlers) => handlers.handleAll({ get: fail, put: fail }))
  return Plugin.make({ id, apis: [PluginApi.make(Api, handlers)] })
}

/** What the linter has against a document, by severity. */
const lint = (directory: string, file: string) =>
  Effect.callback<{ readonly error?: ReadonlyArray<string>; readonly warn?: ReadonlyArray<string> }>((resume) => {
    const cli = join(import.meta.dirname, "../../../node_modules/@redocly/cli/bin/cli.js")
    const args = [cli, "lint", file, "--extends=recommended", "--format=json"]
    const env = { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" }
    execFile(process.execPath, args, { cwd: directory, env }, (_error, stdout, stderr) => {
      if (stdout === "") return resume(Effect.die(new Error(stderr)))
      const { problems } = JSON.parse(stdout) as { problems: ReadonlyArray<{ severity: string; ruleId: string }> }
      const bySeverity = Map.groupBy(problems, ({ severity }) => severity)
      resume(
        Effect.succeed(
          Object.fromEntries(
            [...bySeverity].map(([severity, found]) => [
              severity,
              [...new Set(found.map(({ ruleId }) => ruleId))].toSorted()
            ])
          )
        )
      )
    })
  })

describe("the OpenAPI document", () => {
  it.effect("has no error for Redocly's linter, and no warnings but those that are for the authors of plugins", () =>
    Effect.gen(function* () {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "layerhost-lint-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const { request } = yield* TestHost.make(
        [
          ...plugins,
          things,
          clashing("first", Schema.Struct({ name: Schema.String }).annotate({ identifier: "Thing" })),
          clashing("second", Schema.Struct({ size: Schema.Int }).annotate({ identifier: "Thing" }))
        ],
        {
          config: {
            credentials: { token: "token" },
            secretstore: { useLocalFileSystem: true, localFileSystemPath: join(directory, "secrets") }
          }
        }
      )
      writeFileSync(join(directory, "document.yaml"), (yield* request("/openapi.yaml")).text)
      // A judge that passes everything would be none.
      writeFileSync(join(directory, "wrong.json"), '{"openapi":"3.1.0","info":{"title":"wrong"},"paths":{}}')
      const [document, wrong] = yield* Effect.all([lint(directory, "document.yaml"), lint(directory, "wrong.json")], {
        concurrency: 2
      })
      assert.deepStrictEqual(document, { warn: ["info-license", "operation-4xx-response", "tag-description"] })
      assert.include(wrong.error ?? [], "struct")
    })
  )
})
