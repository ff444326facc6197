import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as MetricsRoute from "../../../src/Host/Telemetry/MetricsRoute.ts"
import { hasPrometheus } from "./support/promtool.ts"

/** The route on a loopback port, and the media types that it answered with. */
const serveMetrics = Effect.gen(function* () {
  const router = yield* HttpRouter.make
  yield* router.addAll([MetricsRoute.make({ "service.name": "shop" })])
  const context = Context.make(Metric.MetricRegistry, new Map())
  yield* Effect.provideContext(
    Metric.update(Metric.histogram("shop.request.duration", { description: "Time", boundaries: [0.5, 1] }), 0.75),
    context
  )
  const handler = HttpEffect.toWebHandlerWith(context)(Effect.orDie(router.asHttpEffect() as Effect.Effect<any>))
  const types: Array<string> = []
  const server = http.createServer((request, response) => {
    const url = `http://localhost${request.url}`
    void handler(new Request(url, { headers: { accept: request.headers.accept ?? "" } })).then(async (answer) => {
      types.push(answer.headers.get("content-type")!)
      return response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
    })
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () => Effect.sync(() => server.close().closeAllConnections())
  )
  return { types, port: (server.address() as AddressInfo).port }
})

/** Prometheus, which scrapes a port every 100 ms, as the address of its own API. */
const startPrometheus = Effect.fnUntraced(function* (port: number) {
  const directory = mkdtempSync(join(tmpdir(), "layerhost-prometheus-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
  writeFileSync(
    join(directory, "prometheus.yml"),
    `scrape_configs: [{job_name: shop, scrape_interval: 100ms, scrape_timeout: 100ms, static_configs: [{targets: ["127.0.0.1:${port}"]}]}]`
  )
  const free = yield* Effect.promise(
    () =>
      new Promise<number>((resolve) => {
        const probe = http.createServer().listen(0, "127.0.0.1", () => {
          const { port } = probe.address() as AddressInfo
          probe.close(() => resolve(port))
        })
      })
  )
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(
        "prometheus",
        [
          `--config.file=${directory}/prometheus.yml`,
          `--storage.tsdb.path=${directory}/data`,
          `--web.listen-address=127.0.0.1:${free}`
        ],
        { stdio: "ignore" }
      )
    ),
    (child) =>
      Effect.promise(
        () =>
          new Promise<void>((resolve) => {
            child.once("exit", () => resolve())
            child.kill("SIGKILL")
          })
      )
  )
  return `http://127.0.0.1:${free}`
})

it.live.skipIf(!hasPrometheus)("A real Prometheus scrapes the route, as OpenMetrics", () =>
  Effect.gen(function* () {
    const { port, types } = yield* serveMetrics
    const api = yield* startPrometheus(port)
    const query = (text: string) =>
      Effect.tryPromise(async () => {
        const response = await fetch(`${api}/api/v1/query?query=${encodeURIComponent(text)}`)
        const { data } = (await response.json()) as {
          data: { result: ReadonlyArray<{ metric: any; value: [number, string] }> }
        }
        if (data.result.length === 0) throw new Error("nothing yet")
        return data.result
      }).pipe(Effect.retry(Schedule.spaced("50 millis")), Effect.timeout("20 seconds"))

    const bucket = yield* query('shop_request_duration_seconds_bucket{le="1.0"}')
    expect(bucket.map(({ value }) => value[1])).toEqual(["1"])
    expect((yield* query('up{job="shop"} == 1')).length).toBe(1)
    expect((yield* query("target_info"))[0]!.metric.service_name).toBe("shop")
    expect(new Set(types)).toEqual(new Set(["application/openmetrics-text; version=1.0.0; charset=utf-8"]))
  }).pipe(Effect.scoped)
)
