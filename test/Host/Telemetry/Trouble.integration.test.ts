import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import * as OtlpReceiver from "../../support/otlp/OtlpReceiver.ts"

const shop = Plugin.make({ id: "shop", routes: HttpRouter.add("GET", "/items/:id", HttpServerResponse.text("item")) })

const load = 200

const dropped = (host: TestHost.Service) =>
  Effect.map(host.metrics, (snapshots) => {
    const counts: Record<string, number> = {}
    for (const { attributes, id, state } of snapshots) {
      if (id !== "layerhost.telemetry.dropped") continue
      counts[attributes!["signal"]!] =
        (counts[attributes!["signal"]!] ?? 0) + Number((state as { readonly count: number }).count)
    }
    return counts
  })

/** Lets seconds pass, and what the network brings in between, until a condition holds. */
const passUntil = (condition: Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (!(yield* condition)) {
      yield* TestClock.adjust("1 second")
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    }
  })

const troubles: ReadonlyArray<
  readonly [kind: string, protocol: OtlpReceiver.Protocol, answer: OtlpReceiver.Answer | "away", reason: RegExp]
> = [
  ["away", "http/protobuf", "away", /ECONNREFUSED/],
  ["away", "grpc", "away", /ECONNREFUSED/],
  ["refusing", "http/protobuf", { _tag: "Status", status: 503 }, /503/],
  ["refusing", "grpc", { _tag: "GrpcStatus", code: 14 }, /status 14/],
  ["refusing for good", "http/json", { _tag: "Status", status: 401 }, /401/],
  ["slower than it may be", "http/protobuf", { _tag: "Never" }, /no answer within 10s/],
  ["slower than it may be", "grpc", { _tag: "Never" }, /no answer within 10s/],
  ["asking to come again", "http/protobuf", { _tag: "Status", status: 429, retryAfter: "30" }, /429/],
  ["asking to come again", "grpc", { _tag: "GrpcStatus", code: 8, retryDelaySeconds: 30 }, /status 8/],
  ["closing mid-body", "http/protobuf", { _tag: "CloseMidBody" }, /closed/],
  ["closing mid-body", "grpc", { _tag: "CloseMidBody" }, /closed|reset|cancel/i]
]

describe("A host whose collector is in trouble", () => {
  it.effect.each(troubles)("%s, over %s, serves as ever, says so once, and tells what it dropped", (trouble) => {
    const [, protocol, answer, reason] = trouble
    return Effect.gen(function* () {
      const first = yield* Scope.make()
      let receiver = yield* Scope.provide(OtlpReceiver.start(protocol), first)
      const { port, url } = receiver
      if (answer === "away") yield* Scope.close(first, Exit.void)
      else receiver.answer = () => answer
      const host = yield* TestHost.make([shop], {
        listen: true,
        config: { telemetry: { endpoint: url, protocol, shutdownTimeout: "0 seconds" } }
      })
      const words = Effect.map(host.log.messages("layerhost.host.telemetry"), (all) =>
        all.filter((message) => message.startsWith("Telemetry "))
      )

      // The trouble begins. Then time stands still: whoever waited for the exporter would wait for ever.
      yield* host.request("/items/1")
      yield* TestClock.adjust("1 second")
      const answers = yield* Effect.forEach(
        Array.from({ length: load }, (_, i) => `/items/${i}`),
        (path) => host.request(path),
        { concurrency: 50 }
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))

      yield* passUntil(Effect.map(dropped(host), ({ logs = 0, traces = 0 }) => logs >= load && traces >= load))
      expect((yield* host.request("/items/1")).status).toBe(200)
      const said = yield* words
      expect(said.length).toBe(1)
      expect(said[0]).toMatch(new RegExp(`^Telemetry cannot be exported to ${url}/?: .*${reason.source}`, "i"))

      if (answer === "away") receiver = yield* OtlpReceiver.start(protocol, { port })
      else receiver.answer = () => ({ _tag: "Accept" })
      yield* passUntil(Effect.map(words, (all) => all.length > 1))
      yield* TestClock.adjust("1 minute")
      expect(yield* words).toEqual([said[0], `Telemetry is exported to ${said[0]!.match(/to (\S+): /)![1]} again`])
    }).pipe(Effect.scoped)
  })
})
