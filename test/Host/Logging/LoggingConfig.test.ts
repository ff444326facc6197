import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer as withLayer } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Configuration from "../../../src/Host/Configuration/Configuration.ts"
import { decode } from "../../../src/Host/Configuration/Decode.ts"
import { LoggingConfig } from "../../../src/Host/Logging/LoggingConfig.ts"

const read = Effect.fnUntraced(function* (sources: Configuration.Sources) {
  const { services } = yield* decode(yield* Configuration.load(sources), [{ section: LoggingConfig, owner: "test" }])
  return Context.get(services as Context.Context<any>, LoggingConfig)
})

const excludedPaths = ["/health/*", "/metrics", "/docs", "/openapi.json", "/openapi.yaml"]
const defaults = { minimumLevel: "Information", override: {}, excludedPaths, queries: false }

withLayer(NodeServices.layer)("LoggingConfig", (test) => {
  const cases: ReadonlyArray<[rule: string, sources: Configuration.Sources, expected: object]> = [
    ["an empty section has the defaults", {}, {}],
    [
      "names are taken in any case",
      { values: { logging: { minimumLevel: "debug", format: "JSON", override: { System: "ERROR" } } } },
      { minimumLevel: "Debug", format: "json", override: { System: "Error" } }
    ],
    [
      "groups of overrides become namespaces",
      {
        values: {
          logging: {
            override: {
              layerhost: { host: { request: "warning" }, secretstore: "Verbose" },
              "a.b": "Fatal",
              "c:d": "Debug"
            }
          }
        }
      },
      {
        override: {
          "layerhost:host:request": "Warning",
          "layerhost:secretstore": "Verbose",
          "a.b": "Fatal",
          "c:d": "Debug"
        }
      }
    ],
    [
      "a namespace and one below it have levels of their own",
      { environment: { LOGGING_OVERRIDE_SYSTEM: "Error", LOGGING_OVERRIDE_SYSTEM_NET: "Debug" } },
      { override: { SYSTEM: "Error", "SYSTEM:NET": "Debug" } }
    ],
    [
      "a list of excluded paths replaces the default",
      { values: { "logging:excludedPaths": ["/ping"] } },
      { excludedPaths: ["/ping"] }
    ]
  ]
  for (const [rule, sources, expected] of cases) {
    test.effect(rule, () =>
      Effect.gen(function* () {
        assert.deepStrictEqual({ ...(yield* read(sources)) }, { ...defaults, ...expected } as never)
      })
    )
  }

  test.effect("tells every wrong level with its key and the names that there are", () =>
    Effect.gen(function* () {
      const logging = { minimumLevel: "Info", override: { a: "Loud", b: { c: "Quiet" } }, format: "xml" }
      const error = yield* Effect.flip(read({ values: { logging } }))
      const levels = "expected one of Verbose, Debug, Information, Warning, Error, Fatal"
      assert.deepStrictEqual(
        error.problems.map(({ key, message }) => `${key}: ${message}`),
        [
          `logging:minimumLevel: ${levels}, found "Info"`,
          `logging:override:a: ${levels}, found "Loud"`,
          `logging:override:b:c: ${levels}, found "Quiet"`,
          'logging:format: expected one of json, pretty, logfmt, found "xml"'
        ]
      )
    })
  )
})
