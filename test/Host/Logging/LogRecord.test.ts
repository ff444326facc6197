import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as LogValue from "../../../src/Host/Logging/LogValue.ts"
import { logged, withoutPositions } from "./support.ts"

const logObject = <E>(effect: Effect.Effect<unknown, E>) =>
  Effect.map(logged(effect), (line) => JSON.parse(line) as Record<string, any>)

describe("a log line", () => {
  it.effect("has the ids of the span that it is written in", () =>
    Effect.gen(function* () {
      const line = yield* logObject(Effect.withSpan(Effect.logInfo("x"), "span"))
      assert.match(line["TraceId"], /^[0-9a-f]{32}$/)
      assert.match(line["SpanId"], /^[0-9a-f]{16}$/)
      const ids = yield* Effect.withSpan(
        Effect.gen(function* () {
          const span = yield* Effect.currentSpan
          const line = yield* logObject(Effect.logInfo("x"))
          return [line["TraceId"] === span.traceId, line["SpanId"] === span.spanId]
        }),
        "span"
      )
      assert.deepStrictEqual(ids, [true, true])
    })
  )

  it.effect("has no ids where there is no span, or none that is recorded", () =>
    Effect.gen(function* () {
      const noSpan = yield* logObject(Effect.logInfo("x"))
      const disabled = yield* logObject(
        Effect.logInfo("x").pipe(Effect.withSpan("span"), Effect.provideService(References.TracerEnabled, false))
      )
      for (const line of [noSpan, disabled]) assert.notProperty(line, "TraceId")
    })
  )

  it.effect("names the operations in which an error came up", () =>
    Effect.gen(function* () {
      const find = Effect.fn("Orders.find")(function* () {
        return yield* Effect.fail(new Error("gone"))
      })
      const line = yield* logObject(Effect.catchCause(find(), (cause) => Effect.logError(cause)))
      assert.strictEqual(line["message"], "gone")
      assert.strictEqual(
        withoutPositions(line["error.stack_trace"]),
        "Error: gone\n    (LogRecord.test.ts)\n    at Orders.find (LogRecord.test.ts)\n    at Orders.find (definition) (LogRecord.test.ts)"
      )
    })
  )

  it.effect("shows all that failed together, the first by type and message", () =>
    Effect.gen(function* () {
      const cause = Cause.combine(
        Cause.combine(Cause.interrupt(1), Cause.fail("no luck")),
        Cause.die({ _tag: "Odd", a: 1 })
      )
      const line = yield* logObject(Effect.logError("x", cause))
      assert.deepStrictEqual(
        [line["error.type"], line["error.message"], line["error.stack_trace"]],
        ["string", "no luck", 'string: no luck\nOdd: {"_tag":"Odd","a":1}']
      )
    })
  )

  it.effect("says of an interruption alone that it was one", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* logObject(Effect.logError("x", Cause.interrupt(1))))["error.type"], "Interrupt")
    })
  )

  it.effect("shows the errors inside an AggregateError", () =>
    Effect.gen(function* () {
      const line = yield* logObject(Effect.logError("x", new AggregateError([new Error("a"), new RangeError("b")])))
      assert.match(
        line["error.stack_trace"],
        /^AggregateError\n[^]*Caused by: Error: a\n[^]*Caused by: RangeError: b\n/
      )
    })
  )

  it.effect("ends a chain of causes that runs in a circle", () =>
    Effect.gen(function* () {
      const error = new Error("round")
      error.cause = error
      const line = yield* logObject(Effect.logError(error))
      assert.isBelow(line["error.stack_trace"].split("Caused by").length, 30)
    })
  )

  it.effect("takes the property of the message where an annotation has the same name", () =>
    Effect.gen(function* () {
      const line = yield* logObject(Effect.logInfo("x", { a: 2 }).pipe(Effect.annotateLogs({ a: 1, b: 1 })))
      assert.deepStrictEqual(line["labels"], { a: 2, b: 1 })
    })
  )

  it.effect("keeps its fields whatever annotations are called", () =>
    Effect.gen(function* () {
      const annotations = {
        message: "forged",
        "log.level": "Fatal",
        "@timestamp": 0,
        labels: 1,
        namespace: 5,
        requestId: 6
      }
      const line = yield* logObject(
        Effect.logInfo("x").pipe(Effect.annotateLogs({ ...annotations, ["__proto__"]: "own" }))
      )
      assert.deepStrictEqual([line["message"], line["log.level"], line["log.logger"]], ["x", "Information", "app"])
      assert.deepInclude(line["labels"], annotations)
    })
  )

  it.effect("is bounded, whatever its values are", () =>
    Effect.gen(function* () {
      const huge = "x".repeat(1_000_000)
      const deep = { deep: {} as object }
      for (let i = 0, at = deep; i < 10_000; i++) at = at.deep = { deep: {} }
      const output = yield* logged(
        Effect.logInfo(huge, huge, deep, {
          [huge]: huge,
          list: Array.from({ length: 100_000 }, () => huge),
          wide: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i]))
        }).pipe(Effect.annotateLogs(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`a${i}`, i]))))
      )
      assert.isBelow(output.length, 4 * LogValue.maxLineLength)
      assert.include(JSON.parse(output)["message"], `…[+${1_000_000 - LogValue.maxStringLength} characters] x`)
    })
  )

  it.effect("shows values as they mean, and hides bytes", () =>
    Effect.gen(function* () {
      const line = yield* logObject(
        Effect.logInfo({
          date: new Date(0),
          noDate: new Date(Number.NaN),
          nan: Number.NaN,
          map: new Map<unknown, unknown>([
            ["password", "canary"],
            [{ a: 1 }, 2]
          ]),
          set: new Set([1]),
          url: new URL("http://u:canary@h/?token=canary"),
          option: Option.some(Redacted.make("canary", { label: "pin" })),
          bytes: Buffer.from("canary"),
          error: new TypeError("bad"),
          cause: Cause.fail(new TypeError("worse")),
          function: function named() {},
          symbol: Symbol("s"),
          regExp: /x/,
          promise: Promise.resolve(),
          bare: Object.assign(Object.create(null), { a: null }),
          list: [undefined]
        })
      )
      assert.deepStrictEqual(line["labels"], {
        date: "1970-01-01T00:00:00.000Z",
        noDate: "Invalid Date",
        nan: "NaN",
        map: { password: "<redacted>", '{"a":1}': 2 },
        set: [1],
        url: "http://u:redacted@h/?token=redacted",
        option: { _id: "Option", _tag: "Some", value: "<redacted:pin>" },
        bytes: "[6 bytes]",
        error: "TypeError: bad",
        cause: "TypeError: worse",
        function: "[function named]",
        symbol: "Symbol(s)",
        regExp: "/x/",
        promise: "[Promise]",
        bare: { a: null },
        list: [null]
      })
    })
  )
})

/** Values that fight back, each by a name that can be drawn. */
const hostile: { readonly [name: string]: () => unknown } = {
  getter: () => ({
    get a() {
      throw new Error("getter")
    },
    b: 1
  }),
  proxy: () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error("get")
        },
        getPrototypeOf: () => {
          throw new Error("getPrototypeOf")
        },
        ownKeys: () => {
          throw new Error("ownKeys")
        },
        has: () => {
          throw new Error("has")
        }
      }
    ),
  revoked: () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    return proxy
  },
  revokedArray: () => {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    return proxy
  },
  circle: () => {
    const circle: { self?: unknown } = {}
    circle.self = [circle]
    return circle
  },
  toJSON: () => ({
    nested: {
      toJSON() {
        throw new Error("toJSON")
      }
    }
  }),
  endlessToJSON: () => {
    const endless = (): object => ({ toJSON: endless, list: [1] })
    return [endless()]
  },
  error: () =>
    Object.defineProperties(new Error("x"), {
      message: {
        get: () => {
          throw new Error("message")
        }
      },
      stack: { value: 5 },
      name: { value: Symbol("name") },
      cause: { value: Proxy.revocable({}, {}).proxy }
    }),
  bigint: () => 10n ** 40n,
  symbol: () => Symbol("\n"),
  undefined: () => undefined,
  redacted: () => Redacted.make("canary"),
  surrogate: () => "\ud800",
  newline: () => 'a\r\n{"log.level":"Fatal"}\u2028\u0085\u0000',
  function: () => () => {},
  cause: () => Cause.die(new Proxy({}, { get: () => Cause.empty }))
}

const Drawn: Schema.Codec<Drawn> = Schema.Union([
  Schema.Literals(Object.keys(hostile).map((name) => `hostile ${name}`)),
  Schema.String,
  Schema.Number,
  Schema.Null,
  Schema.Array(Schema.suspend(() => Drawn)),
  Schema.Record(
    Schema.String,
    Schema.suspend(() => Drawn)
  )
])
type Drawn = string | number | null | ReadonlyArray<Drawn> | { readonly [key: string]: Drawn }

const toValue = (drawn: Drawn): unknown => {
  if (typeof drawn === "string") return drawn.startsWith("hostile ") ? hostile[drawn.slice(8)]!() : drawn
  if (drawn === null || typeof drawn === "number") return drawn
  if (Array.isArray(drawn)) return drawn.map(toValue)
  return Object.fromEntries(Object.entries(drawn).map(([key, value]) => [key, toValue(value)]))
}

const isReadable = (value: unknown): boolean => {
  try {
    Cause.isCause(value)
    return true
  } catch {
    return false
  }
}

describe("hostile values", () => {
  const assertSound = (value: unknown) => {
    // Effect itself looks at each part of a message, and throws where that part does.
    const parts = isReadable(value) ? [value] : []
    const log = Effect.logError(...parts, [value], { value }).pipe(Effect.annotateLogs({ value, values: [value] }))
    const failed = Effect.logError("failed", Cause.fail(value))
    const json = Effect.runSync(logged(Effect.andThen(log, failed)))
    const lines = json.split("\n")
    assert.strictEqual(lines.length, 3)
    assert.strictEqual(lines[2], "")
    for (const line of lines.slice(0, 2)) assert.strictEqual(JSON.parse(line)["log.level"], "Error")
    const logfmt = Effect.runSync(logged(Effect.andThen(log, failed), { format: "logfmt" }))
    assert.strictEqual(logfmt.split("\n").length, 3)
    const pretty = Effect.runSync(logged(Effect.andThen(log, failed), { format: "pretty" }))
    const heads = pretty.split("\n").filter((line) => line !== "" && !line.startsWith("    "))
    assert.strictEqual(heads.length, 2)
    for (const output of [json, logfmt, pretty]) {
      assert.notMatch(output.replaceAll("\n", ""), /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u)
      assert.notInclude(output, "canary")
    }
  }

  for (const name of Object.keys(hostile)) {
    it(`${name} makes one sound line`, () => assertSound(hostile[name]!()))
  }

  it.prop("any value makes one line that parses", { drawn: Drawn }, ({ drawn }) => assertSound(toValue(drawn)))
})
