import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import * as Tracer from "effect/Tracer"
import { logged } from "./support.ts"

class NotFound extends Data.TaggedError("NotFound")<{ readonly id: string; readonly password: string }> {}

const withoutStack = <E extends Error>(error: E): E =>
  Object.assign(error, { stack: `${error.name}: ${error.message}` })

const withFrame = <E extends Error>(error: E): E =>
  Object.assign(error, { stack: `${error.name}: ${error.message}\n    at work (/app/work.ts:1:2)` })

/** Lines that show every field of a format. */
const program = Effect.gen(function* () {
  yield* TestClock.setTime(Date.UTC(2026, 0, 2, 3, 4, 5, 6))
  yield* Effect.logInfo("Listening on", "http://localhost:8080").pipe(
    Effect.annotateLogs({ namespace: "layerhost.host" })
  )
  yield* Effect.logTrace("Order", 7, "taken", { amount: 1.5, "two words": 'a "b"', tags: ["x", 1n], none: undefined })
  yield* Effect.logWarning("In a request").pipe(
    Effect.annotateLogs({ requestId: "r-1", user: Redacted.make("canary"), apiKey: "canary", level: "Fatal" }),
    Effect.withLogSpan("query"),
    Effect.withParentSpan(
      Tracer.externalSpan({ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" })
    )
  )
  yield* Effect.logError(
    "Refused",
    Cause.fail(
      withFrame(
        new Error("outer\nline", { cause: withFrame(new TypeError("inner", { cause: { code: 3, token: "canary" } })) })
      )
    )
  )
  yield* Effect.logFatal(withoutStack(new NotFound({ id: "7", password: "canary" })))
  yield* Effect.logDebug("forged\n2026 ERR\u001b[31m\u2028\u009b\u202e", { "a=b c\n": "x\ny" })
})

describe("formats", () => {
  it.effect("json", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* logged(program, { format: "json" }),
        String.raw`{"@timestamp":"2026-01-02T03:04:05.006Z","log.level":"Information","log.logger":"layerhost.host","message":"Listening on http://localhost:8080"}
{"@timestamp":"2026-01-02T03:04:05.006Z","log.level":"Verbose","log.logger":"app","message":"Order 7 taken","labels":{"amount":1.5,"two words":"a \"b\"","tags":["x","1"]}}
{"@timestamp":"2026-01-02T03:04:05.006Z","log.level":"Warning","log.logger":"app","message":"In a request","TraceId":"0af7651916cd43dd8448eb211c80319c","SpanId":"b7ad6b7169203331","http.request.id":"r-1","labels":{"user":"<redacted>","apiKey":"<redacted>","level":"Fatal","queryMs":0}}
{"@timestamp":"2026-01-02T03:04:05.006Z","log.level":"Error","log.logger":"app","message":"Refused","error.type":"Error","error.message":"outer\nline","error.stack_trace":"Error: outer\nline\n    at work (/app/work.ts:1:2)\nCaused by: TypeError: inner\n    at work (/app/work.ts:1:2)\nCaused by: Object: {\"code\":3,\"token\":\"<redacted>\"}"}
{"@timestamp":"2026-01-02T03:04:05.006Z","log.level":"Fatal","log.logger":"app","message":"{\"id\":\"7\",\"password\":\"<redacted>\"}","error.type":"NotFound","error.message":"{\"id\":\"7\",\"password\":\"<redacted>\"}","error.stack_trace":"NotFound: {\"id\":\"7\",\"password\":\"<redacted>\"}"}
{"@timestamp":"2026-01-02T03:04:05.006Z","log.level":"Debug","log.logger":"app","message":"forged\n2026 ERR\u001b[31m\u2028\u009b\u202e","labels":{"a=b c\n":"x\ny"}}
`
      )
    })
  )

  it.effect("logfmt", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* logged(program, { format: "logfmt" }),
        String.raw`time=2026-01-02T03:04:05.006Z level=Information logger=layerhost.host msg="Listening on http://localhost:8080"
time=2026-01-02T03:04:05.006Z level=Verbose logger=app msg="Order 7 taken" amount=1.5 two_words="a \"b\"" tags="[\"x\",\"1\"]"
time=2026-01-02T03:04:05.006Z level=Warning logger=app msg="In a request" TraceId=0af7651916cd43dd8448eb211c80319c SpanId=b7ad6b7169203331 requestId=r-1 user=<redacted> apiKey=<redacted> label.level=Fatal queryMs=0
time=2026-01-02T03:04:05.006Z level=Error logger=app msg=Refused error.type=Error error.message="outer\nline" error.stack_trace="Error: outer\nline\n    at work (/app/work.ts:1:2)\nCaused by: TypeError: inner\n    at work (/app/work.ts:1:2)\nCaused by: Object: {\"code\":3,\"token\":\"<redacted>\"}"
time=2026-01-02T03:04:05.006Z level=Fatal logger=app msg="{\"id\":\"7\",\"password\":\"<redacted>\"}" error.type=NotFound error.message="{\"id\":\"7\",\"password\":\"<redacted>\"}" error.stack_trace="NotFound: {\"id\":\"7\",\"password\":\"<redacted>\"}"
time=2026-01-02T03:04:05.006Z level=Debug logger=app msg="forged\n2026 ERR\u001b[31m\u2028\u009b\u202e" a_b_c_="x\ny"
`
      )
    })
  )

  it.effect("pretty, without colours", () =>
    Effect.gen(function* () {
      const output = yield* logged(program, { format: "pretty", isTerminal: false })
      const time = `${new Date(Date.UTC(2026, 0, 2, 3, 4, 5)).toTimeString().slice(0, 8)}.006`
      assert.strictEqual(
        output.replaceAll(time, "TIME"),
        String.raw`TIME INF layerhost.host        Listening on http://localhost:8080
TIME VRB app                   Order 7 taken amount=1.5 two_words="a \"b\"" tags=["x","1"]
TIME WRN app                   In a request user=<redacted> apiKey=<redacted> level=Fatal queryMs=0 requestId=r-1 TraceId=0af7651916cd43dd8448eb211c80319c SpanId=b7ad6b7169203331
TIME ERR app                   Refused
    Error: outer
    line
        at work (/app/work.ts:1:2)
    Caused by: TypeError: inner
        at work (/app/work.ts:1:2)
    Caused by: Object: {"code":3,"token":"<redacted>"}
TIME FTL app                   {"id":"7","password":"<redacted>"}
    NotFound: {"id":"7","password":"<redacted>"}
TIME DBG app                   forged\n2026 ERR\u001b[31m\u2028\u009b\u202e a_b_c_="x\ny"
`
      )
    })
  )

  it.effect("pretty is coloured on a terminal, unless NO_COLOR is set", () =>
    Effect.gen(function* () {
      const before = process.env["NO_COLOR"]
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          if (before === undefined) delete process.env["NO_COLOR"]
          else process.env["NO_COLOR"] = before
        })
      )
      delete process.env["NO_COLOR"]
      const colored = yield* logged(Effect.logInfo("x"), { format: undefined, isTerminal: true })
      assert.include(colored, "\u001b[32mINF\u001b[0m")
      process.env["NO_COLOR"] = "1"
      const plain = yield* logged(Effect.logInfo("x"), { format: undefined, isTerminal: true })
      assert.match(plain, /^\d\d:\d\d:\d\d\.\d{3} INF app {19}x\n$/)
    })
  )

  it.effect("the format is json where nobody looks and none is given", () =>
    Effect.gen(function* () {
      assert.strictEqual(JSON.parse(yield* logged(Effect.logInfo("x"), { format: undefined }))["message"], "x")
    })
  )
})
