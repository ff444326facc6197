import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { Scope } from "effect/Scope"
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as MemoryBackend from "../../../src/SecretStore/MemoryBackend.ts"
import { CredentialStorage, samples } from "../../SecretStore/support/Credentials.ts"
import * as OtlpReceiver from "../../support/otlp/OtlpReceiver.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import * as promtool from "./support/promtool.ts"

/** Keeps a secret and asks a server, so that there is something of everything to measure. */
const shop = Plugin.make({
  id: "shop",
  services: Layer.provide(CredentialStorage.layer, MemoryBackend.layer()),
  routes: Layer.mergeAll(
    HttpRouter.add(
      "POST",
      "/secrets/:name",
      Effect.gen(function* () {
        const storage = yield* CredentialStorage
        yield* storage.get(yield* storage.create("ApiKeys", samples.Certificate))
        return HttpServerResponse.empty()
      })
    ),
    HttpRouter.add(
      "GET",
      "/ask",
      Effect.as(Effect.exit(HttpClient.get("http://127.0.0.1:1/")), HttpServerResponse.text("asked"))
    )
  )
})

/** A host that has served requests of every kind. */
const busyHost = (values: Readonly<Record<string, unknown>> = {}) =>
  Effect.gen(function* () {
    const rules = [{ endpoint: "*", period: "1h", limit: 1_000_000 }]
    const host = yield* TestHost.make([shop], {
      listen: true,
      config: { telemetry: { name: "shop" }, ipRateLimiting: { generalRules: rules }, ...values }
    })
    yield* host.request("/secrets/a", { method: "POST" })
    yield* host.request("/ask")
    yield* host.request("/health/liveness")
    return host
  })

/** Series that every host has, as Prometheus names them. */
const expected = [
  'http_server_request_duration_seconds_count{http_request_method="POST",http_response_status_code="204",http_route="/secrets/{name}"}',
  "http_server_active_requests",
  'http_client_request_duration_seconds_count{error_type="TransportError",http_request_method="GET",server_address="127.0.0.1",server_port="1"}',
  'layerhost_plugins{plugin="shop"}',
  'layerhost_health_status{check="api"}',
  'layerhost_rate_limit_decisions_total{decision="allowed"}',
  'layerhost_secret_operation_duration_seconds_count{backend="memory",operation="get",outcome="success",type="Certificate"}',
  'layerhost_log_lines_total{level="Information"}',
  "nodejs_eventloop_delay_p99_seconds",
  "nodejs_eventloop_utilization_ratio",
  'v8js_memory_heap_used_bytes{v8js_heap_space_name="old_space"}',
  'process_cpu_time_seconds_total{cpu_mode="user"}',
  "process_memory_usage_bytes",
  "process_unix_file_descriptor",
  "process_start_time_seconds",
  "child_fibers_started_total"
]

describe("/metrics of a host that has served requests", () => {
  it.effect.each([
    ["the text format", "text/plain"],
    ["OpenMetrics", "application/openmetrics-text; version=1.0.0"]
  ] as const)("tells of everything in %s, by well-formed names", ([, accept]) =>
    Effect.gen(function* () {
      const { request } = yield* busyHost()
      const { headers, text } = yield* request("/metrics", { headers: { accept } })
      expect(headers.get("content-type")).toContain(accept)
      const series = text.split("\n").map((line) => line.replace(/ \S+$/, ""))
      expect(series).toEqual(expect.arrayContaining(expected))
      expect(text).toContain('service_name="shop"')
      // promtool reads the text format only; Prometheus itself, below, reads both.
      if (promtool.hasPromtool && accept === "text/plain") expect(promtool.check(text)).toBe("")
    }).pipe(Effect.scoped)
  )

  it.effect("is what the README lists, no more and no less", () =>
    Effect.gen(function* () {
      const { request } = yield* busyHost()
      const { text } = yield* request("/metrics")
      const isOwn = (name: string) => /^(?:http|layerhost|nodejs|v8js|process)_/.test(name)
      const told = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!).filter(isOwn))
      // These are there once garbage was collected, a collector was in trouble, a secret server was away, a request unreadable.
      const later = [
        "layerhost_http_refused_requests_total",
        "v8js_gc_duration_seconds",
        "layerhost_telemetry_dropped_total",
        "layerhost_secret_stale_reads_total"
      ]
      for (const name of later) told.add(name)
      const readme = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf8")
      const table = readme.slice(readme.indexOf("### Metrics"), readme.indexOf("Labels in `/metrics`"))
      const statistics = table.match(/with `max`.*?\|/)![0]
      const listed = new Set([...table.matchAll(/^\| `([^`]+)`[^|]*\| `([^`]+)`/gm)].map(([, , name]) => name!))
      for (const [, each] of statistics.matchAll(/`(\w+)`/g)) listed.add(`nodejs_eventloop_delay_${each}_seconds`)
      expect([...told].toSorted()).toEqual([...listed].toSorted())
      for (const [, name, family] of table.matchAll(/^\| `([^`]+)`[^|]*\| `([^`]+)`/gm)) {
        expect(family!.startsWith(name!.replaceAll(".", "_").replace(/_count$/, ""))).toBe(true)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("has a bounded number of series, whatever clients ask for", () =>
    Effect.gen(function* () {
      const { request, url } = yield* busyHost()
      for (let i = 0; i < 50; i++) yield* request(`/unknown/${i}?x=${i}`)
      for (let i = 0; i < 50; i++) yield* request(`/secrets/${i}`, { method: "POST" })
      for (const method of ["PURGE", "SEARCH", "M-SEARCH"]) yield* send(url, method)
      const { text } = yield* request("/metrics")
      const counts = text.split("\n").filter((line) => line.startsWith("http_server_request_duration_seconds_count"))
      const seriesOf = (method: string, status: number, route?: string) => {
        const labels = [`http_request_method="${method}"`, `http_response_status_code="${status}"`]
        if (route !== undefined) labels.push(`http_route="${route}"`)
        return counts.filter((line) => line.includes(`{${labels.join(",")}}`))
      }
      expect(seriesOf("GET", 404).length).toBe(1)
      expect(seriesOf("POST", 204, "/secrets/{name}").length).toBe(1)
      expect(seriesOf("_OTHER", 404).length).toBe(1)
      expect(text).not.toMatch(/PURGE|unknown|SEARCH/)
    }).pipe(Effect.scoped)
  )

  it.effect("is told over OTLP by the names of OpenTelemetry's conventions, each with its unit", () =>
    Effect.gen(function* () {
      const receiver = yield* OtlpReceiver.start("http/protobuf")
      yield* Effect.scoped(busyHost({ telemetry: { endpoint: receiver.url, shutdownTimeout: "5 seconds" } }))
      const units = Object.fromEntries(receiver.metrics.map(({ name, unit }) => [name, unit]))
      expect(units).toMatchObject({
        "http.server.request.duration": "s",
        "http.server.active_requests": "{request}",
        "http.client.request.duration": "s",
        "layerhost.plugins": "{plugin}",
        "layerhost.secret.operation.duration": "s",
        "nodejs.eventloop.delay.p99": "s",
        "v8js.memory.heap.used": "By",
        "process.cpu.time": "s"
      })
      const names = Object.keys(units).filter((name) => name.startsWith("layerhost"))
      expect(names.toSorted()).toEqual([
        "layerhost.health.status",
        "layerhost.log.lines",
        "layerhost.plugins",
        "layerhost.rate_limit.decisions",
        "layerhost.secret.operation.duration"
      ])
    }).pipe(Effect.scoped)
  )
})

/** Sends a request whose method `fetch` may not take. */
const send = (url: string, method: string): Effect.Effect<void> =>
  Effect.callback((resume) => {
    http
      .request(`${url}/nothing`, { method }, (response) => response.resume().on("end", () => resume(Effect.void)))
      .end()
  })

/** Passes requests on to a host, which it asks for the text format; Prometheus itself asks for OpenMetrics. */
const asText = (url: string): Effect.Effect<number, never, Scope> =>
  Effect.gen(function* () {
    const server = http.createServer((request, response) => {
      http.get(`${url}${request.url}`, { headers: { accept: "text/plain" } }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(response)
      })
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
      () => Effect.sync(() => server.close().closeAllConnections())
    )
    return (server.address() as AddressInfo).port
  })

/** Prometheus, which scrapes ports every 100 ms under the names of jobs, as the address of its own API. */
const startPrometheus = Effect.fnUntraced(function* (jobs: Readonly<Record<string, number>>) {
  const directory = mkdtempSync(join(tmpdir(), "layerhost-prometheus-"))
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(directory, { recursive: true, force: true })))
  writeFileSync(
    join(directory, "prometheus.yml"),
    JSON.stringify({
      scrape_configs: Object.entries(jobs).map(([job_name, port]) => ({
        job_name,
        scrape_interval: "100ms",
        scrape_timeout: "100ms",
        static_configs: [{ targets: [`127.0.0.1:${port}`] }]
      }))
    })
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

it.live.skipIf(!promtool.hasPrometheus)("A real Prometheus scrapes a host in both formats, and reads the same", () =>
  Effect.gen(function* () {
    const { url } = yield* busyHost()
    const api = yield* startPrometheus({ openmetrics: Number(new URL(url).port), text: yield* asText(url) })
    const query = (text: string, isEnough: (results: number) => boolean = (results) => results > 0) =>
      Effect.tryPromise(async () => {
        const response = await fetch(`${api}/api/v1/query?query=${encodeURIComponent(text)}`)
        const { data } = (await response.json()) as {
          data: { result: ReadonlyArray<{ metric: any; value: [number, string] }> }
        }
        if (!isEnough(data.result.length)) throw new Error("not yet")
        return data.result
      }).pipe(Effect.retry(Schedule.spaced("50 millis")), Effect.timeout("20 seconds"))

    yield* query("up == 1", (results) => results === 2)
    for (const series of expected) {
      const jobs = (yield* query(series, (results) => results >= 2)).map(({ metric }) => metric.job)
      expect(new Set(jobs)).toEqual(new Set(["openmetrics", "text"]))
    }
    expect(new Set((yield* query("target_info")).map(({ metric }) => metric.service_name))).toEqual(new Set(["shop"]))
    const [scraped] = yield* query('layerhost_log_lines_total{level="Information",job="openmetrics"}')
    expect(Number(scraped!.value[1])).toBeGreaterThan(0)
  }).pipe(Effect.scoped)
)
