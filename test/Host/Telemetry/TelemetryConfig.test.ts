import { describe, expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { inspect } from "node:util"
import * as Resource from "../../../src/Host/Telemetry/Resource.ts"
import { TelemetryConfig } from "../../../src/Host/Telemetry/TelemetryConfig.ts"

const decode = (input: object) => Effect.provide(TelemetryConfig, TelemetryConfig.layer(input))

describe("The section", () => {
  it.effect("has a default for everything but the target", () =>
    Effect.gen(function* () {
      expect(yield* decode({})).toEqual({
        protocol: "http/protobuf",
        traces: true,
        metrics: true,
        logs: true,
        headers: [],
        sampleRatio: 1,
        console: false,
        excludedPaths: ["/health/*", "/metrics", "/docs", "/openapi.json", "/openapi.yaml"],
        timeout: Duration.seconds(10),
        shutdownTimeout: Duration.seconds(3),
        metricsInterval: Duration.seconds(60),
        tls: {}
      })
    })
  )

  it.effect("keeps header values to itself", () =>
    Effect.gen(function* () {
      const config = yield* decode({ headers: [{ name: "authorization", value: "Bearer canary" }] })
      expect(Redacted.value(config.headers[0]!.value)).toBe("Bearer canary")
      expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toContain("canary")
    })
  )

  it.effect.each<readonly [input: object, word: string]>([
    [{ endpoint: "collector:4317" }, "URL"],
    [{ endpoint: "ftp://collector" }, "URL"],
    [{ endpoint: "http://collector?x=1" }, "URL"],
    [{ protocol: "udp" }, '"grpc"'],
    [{ sampleRatio: 1.5 }, "sampleRatio"],
    [{ sampleRatio: -1 }, "sampleRatio"],
    [{ headers: [{ name: "a b", value: "x" }] }, "header"],
    [{ headers: [{ name: "a" }] }, "value"],
    [{ timeout: "soon" }, "duration"],
    [{ metricsInterval: "10 millis" }, "one second"]
  ])("refuses %j", ([input, word]) =>
    Effect.gen(function* () {
      expect((yield* Effect.flip(decode(input))).message).toContain(word)
    })
  )
})

describe("The service's attributes", () => {
  const make = (config: { name?: string; version?: string }, environment: Record<string, string>) =>
    Resource.make(config, environment, "1.2.3")

  it("are named by the configuration, else by OpenTelemetry's variables, else by the product", () => {
    const both = { OTEL_SERVICE_NAME: "b", OTEL_RESOURCE_ATTRIBUTES: "service.name=c" }
    expect(make({ name: "a" }, both)["service.name"]).toBe("a")
    expect(make({}, both)["service.name"]).toBe("b")
    expect(make({}, { ...both, OTEL_SERVICE_NAME: "" })["service.name"]).toBe("c")
    expect(make({}, {})["service.name"]).toBe("layerhost")
  })

  it("have the version that the configuration tells, else the variable, else npm", () => {
    const both = { OTEL_RESOURCE_ATTRIBUTES: "service.version=2", npm_package_version: "3" }
    expect(make({ version: "1" }, both)["service.version"]).toBe("1")
    expect(make({}, both)["service.version"]).toBe("2")
    expect(make({}, { npm_package_version: "3" })["service.version"]).toBe("3")
    expect(make({}, {})).not.toHaveProperty("service.version")
  })

  it("take what is well formed of OTEL_RESOURCE_ATTRIBUTES", () => {
    const text = " a = 1 ,b=x%2Cy%3Dz,broken,=2,c=%ff,d=,e=1=2,service.instance.id=i,"
    const attributes = make({}, { OTEL_RESOURCE_ATTRIBUTES: text })
    expect(attributes).toMatchObject({ a: "1", b: "x,y=z", d: "", e: "1=2", "service.instance.id": "i" })
    for (const name of ["broken", "", "c"]) expect(Object.keys(attributes)).not.toContain(name)
  })

  it("tell instances of one service apart", () => {
    expect(make({}, {})["service.instance.id"]).not.toBe(make({}, {})["service.instance.id"])
  })
})
