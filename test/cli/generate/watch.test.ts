import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { FileSystem } from "effect/FileSystem"
import * as Queue from "effect/Queue"
import * as nodePath from "node:path"
import * as run from "../../../src/cli/generate/run.ts"
import { makeFiles, makeFilesIn, metricsPackage, pluginModule } from "./files.ts"

it.live("writes the list again when anything that it is made from changes, and lives through errors", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const directory = yield* makeFiles({ "package.json": {}, "src/a.ts": pluginModule("a"), ...metricsPackage })
    const said = yield* Queue.unbounded<string>()
    const say = (line: string) =>
      void Queue.offerUnsafe(said, line.replaceAll(`${nodePath.relative("", directory)}/`, ""))
    const watching = yield* run
      .watch(directory)
      .pipe(
        Effect.provideService(Console.Console, { ...globalThis.console, log: say, error: say } as Console.Console),
        Effect.forkChild
      )
    const list = fs.readFileString(`${directory}/src/plugins.generated.ts`)
    const next = Queue.take(said)
    assert.strictEqual(yield* next, "src/plugins.generated.ts: 1 plugin, written")

    yield* makeFilesIn(directory, { "src/deep/er/b.ts": pluginModule("b") })
    assert.strictEqual(yield* next, "src/plugins.generated.ts: 2 plugins, written")
    assert.include(yield* list, "./deep/er/b.ts")

    yield* makeFilesIn(directory, { "src/deep/er/b.ts": `${pluginModule("b")}export const` })
    assert.match(yield* next, /^src\/deep\/er\/b\.ts:3: syntax error/)
    assert.include(yield* list, "./deep/er/b.ts")

    yield* makeFilesIn(directory, { "src/deep/er/b.ts": pluginModule("c") })
    assert.strictEqual(yield* next, "src/plugins.generated.ts: 2 plugins, written")

    yield* fs.remove(`${directory}/src/deep`, { recursive: true })
    assert.strictEqual(yield* next, "src/plugins.generated.ts: 1 plugin, written")

    yield* makeFilesIn(directory, { "package.json": { dependencies: { "@acme/metrics": "1" } } })
    assert.strictEqual(yield* next, "src/plugins.generated.ts: 2 plugins, written")

    yield* makeFilesIn(directory, { "node_modules/@acme/metrics/plugin.js": "export const none = 1" })
    assert.match(yield* next, /^node_modules\/@acme\/metrics\/package\.json:\d+: .* exports no plugin$/)
    assert.isUndefined(watching.pollUnsafe())
  }).pipe(Effect.provide(NodeServices.layer), Effect.scoped)
)
