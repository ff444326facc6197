import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Configuration from "../../../src/Host/Configuration/Configuration.ts"
import { decode } from "../../../src/Host/Configuration/Decode.ts"
import * as DurationText from "../../../src/Host/Configuration/DurationText.ts"
import * as HostConfig from "../../../src/Host/Configuration/HostConfig.ts"
import { layer } from "./support.ts"

const sections = [HostConfig.HostConfig, HostConfig.DocsConfig]

const decodeHost = Effect.fnUntraced(function* (values: Record<string, unknown>) {
  const tree = yield* Configuration.load({ values })
  const { services } = yield* decode(
    tree,
    sections.map((section) => ({ section, owner: "layerhost/host" }))
  )
  return sections.map((section) => services.mapUnsafe.get(section.key))
})

withLayer(layer)((test) => {
  test.effect("has the defaults of the specification", () =>
    Effect.gen(function* () {
      assert.deepEqual(yield* decodeHost({}), [
        {
          urls: "http://+:8080",
          maxRequestSize: 8_388_608,
          additionalConfigPaths: "",
          reloadOnChange: false,
          shutdownTimeout: Duration.seconds(30),
          shutdownDelay: Duration.zero,
          keepAliveGrace: Duration.millis(500),
          headersTimeout: Duration.seconds(30),
          requestTimeout: Duration.minutes(5),
          keepAliveTimeout: Duration.seconds(65),
          sendTimeout: Duration.seconds(60),
          maxHeaderSize: 16_384,
          maxHeaderCount: 100,
          maxRequestValues: 200_000
        },
        { enabled: true }
      ])
    })
  )

  test.effect("checks the listening URLs", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(decodeHost({ host: { urls: "http://+:1, http://x/path,ftp://y" } }))
      assert.include(
        error.message,
        "host:urls: http://x/path has a path; a listener takes all paths; ftp://y is not a URL"
      )
    })
  )

  test.effect("refuses a size below zero, and what is neither true nor false", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(decodeHost({ host: { maxRequestSize: -1 }, docs: { enabled: "yes" } }))
      assert.deepStrictEqual(
        error.problems.map((problem) => problem.key),
        ["host:maxRequestSize", "docs:enabled"]
      )
    })
  )

  describe("durations", () => {
    for (const [text, millis] of [
      ["30 seconds", 30_000],
      ["1 minute", 60_000],
      ["30s", 30_000],
      ["1.5 s", 1500],
      ["250ms", 250],
      ["2m", 120_000],
      ["1h", 3_600_000],
      ["1d", 86_400_000],
      ["PT1M30S", 90_000],
      ["0s", 0]
    ] as const) {
      test.effect(`"${text}" is one`, () =>
        Effect.sync(() =>
          assert.deepStrictEqual(Option.map(DurationText.parse(text), Duration.toMillis), Option.some(millis))
        )
      )
    }
    for (const [millis, text] of [
      [250, "0.25 seconds"],
      [1000, "1 second"],
      [90_000, "90 seconds"],
      [7_200_000, "2 hours"],
      [172_800_000, "2 days"],
      [0, "0 seconds"]
    ] as const) {
      test.effect(`${millis} ms are written as "${text}", and read again`, () =>
        Effect.sync(() => {
          assert.strictEqual(DurationText.format(Duration.millis(millis)), text)
          assert.deepStrictEqual(Option.map(DurationText.parse(text), Duration.toMillis), Option.some(millis))
        })
      )
    }
    for (const text of ["", "30", "-1s", "-5 seconds", "Infinity", "1 fortnight", "30S", "s", "1e3s", "P1Y"]) {
      test.effect(`"${text}" is none`, () => Effect.sync(() => assert.isTrue(Option.isNone(DurationText.parse(text)))))
    }
  })
})
