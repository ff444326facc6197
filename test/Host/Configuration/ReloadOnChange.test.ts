import { assert, layer as withLayer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import * as Configuration from "../../../src/Host/Configuration/Configuration.ts"
import { decode } from "../../../src/Host/Configuration/Decode.ts"
import { HostConfig } from "../../../src/Host/Configuration/HostConfig.ts"
import * as ReloadOnChange from "../../../src/Host/Configuration/ReloadOnChange.ts"
import * as Logging from "../../../src/Host/Logging/Logging.ts"
import { LoggingConfig } from "../../../src/Host/Logging/LoggingConfig.ts"
import { layer, makeDirectory } from "./support.ts"

const sections = [HostConfig, LoggingConfig].map((section) => ({ section, owner: "layerhost/host" }))

/** Starts as a host does over the files of a directory; gives what stands in the log. */
const start = Effect.fnUntraced(function* (yaml: string) {
  const directory = yield* makeDirectory({ "appsettings.yaml": yaml })
  const sources = { directory }
  const tree = yield* Configuration.load(sources)
  const services = (yield* decode(tree, sections)).services as Context.Context<any>
  const log: Array<string> = []
  const logging = Logging.layer({
    levels: Context.get(services, LoggingConfig),
    format: "json",
    floor: "Verbose",
    write: (lines) => log.push(lines)
  })
  return { directory, log, logging, services, options: { sources, sections, tree, quiet: "5 millis" } as const }
})

withLayer(layer, { excludeTestServices: true })((test) => {
  test.effect("log levels follow the configuration", () =>
    Effect.gen(function* () {
      const { directory, log, logging, options, services } = yield* start("host: { reloadOnChange: true }")
      yield* Effect.gen(function* () {
        const { flush } = yield* Logging.Logging
        yield* ReloadOnChange.start(Context.get(services, HostConfig), Context.get(services, LoggingConfig), options)
        yield* Effect.andThen(Effect.logDebug("too early"), flush)
        writeFileSync(
          `${directory}/appsettings.yaml`,
          "host: { reloadOnChange: true }\nlogging: { override: { app: debug } }"
        )
        const attempt = Effect.logDebug("heard").pipe(Effect.andThen(flush), Effect.andThen(Effect.yieldNow))
        yield* Effect.repeat(attempt, { until: () => log.join("").includes("heard") })
        assert.notInclude(log.join(""), "too early")
        assert.include(log.join(""), "The configuration has changed: logging")
      }).pipe(Effect.provide(logging))
    })
  )

  test.effect("nothing is watched where nothing asks for it", () =>
    Effect.gen(function* () {
      const { logging, options, services } = yield* start("host: {}")
      const watchers = () => process.getActiveResourcesInfo().filter((name) => /FSEvent/i.test(name)).length
      const before = watchers()
      const context = yield* ReloadOnChange.start(
        Context.get(services, HostConfig),
        Context.get(services, LoggingConfig),
        options
      ).pipe(Effect.provide(logging))
      assert.strictEqual(context.mapUnsafe.size, 0)
      assert.strictEqual(watchers(), before)
    })
  )
})
