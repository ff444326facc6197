import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as YAML from "yaml"
import * as TestHost from "../../../src/testing/TestHost.ts"
import * as TestLog from "../../../src/testing/TestLog.ts"
import { things } from "./support/things.ts"

const yaml = { headers: { accept: "application/yaml" } }

describe("answers in YAML", () => {
  it.effect("are given for every JSON answer, to who asks for them", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      for (const path of ["/things/7", "/vary", "/files/a/b", "/health/liveness", "/openapi.json"]) {
        const inJson = yield* request(path)
        const inYaml = yield* request(path, yaml)
        assert.strictEqual(inJson.headers.get("content-type"), "application/json", path)
        assert.strictEqual(inYaml.headers.get("content-type"), "application/yaml", path)
        if (path !== "/health/liveness") assert.deepStrictEqual(YAML.parse(inYaml.text), JSON.parse(inJson.text))
      }
    })
  )

  it.effect("keep the kind of the JSON, and say what they depend on", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const vendor = yield* request("/vendor", yaml)
      assert.strictEqual(vendor.headers.get("content-type"), "application/vnd.x+yaml")
      assert.strictEqual(vendor.headers.get("vary"), "Accept, Accept-Encoding")
      assert.strictEqual((yield* request("/vary")).headers.get("vary"), "Origin, Accept, Accept-Encoding")
      assert.strictEqual((yield* request("/text", yaml)).headers.get("vary"), "Accept-Encoding")
    })
  )

  it.effect("are not made of what is no JSON", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      for (const [path, type, text] of [
        ["/text", "text/plain", "plain"],
        ["/html", "text/html", "<p>hi</p>"],
        ["/not-json", "application/json", "{"]
      ]) {
        const answer = yield* request(path!, yaml)
        assert.deepStrictEqual([answer.status, answer.headers.get("content-type"), answer.text], [200, type, text])
      }
    })
  )

  it.effect("have the length of the YAML, also where HEAD asks", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things], { listen: true })
      for (const accept of ["application/json", "application/yaml"]) {
        const get = yield* request("/vary", { headers: { accept } })
        const head = yield* request("/vary", { method: "HEAD", headers: { accept } })
        assert.strictEqual(get.headers.get("content-length"), String(get.text.length))
        assert.strictEqual(head.text, "")
        for (const name of ["content-length", "content-type", "vary"]) {
          assert.strictEqual(head.headers.get(name), get.headers.get(name), name)
        }
      }
    })
  )
})

describe("answers that the client does not accept", () => {
  const ask = (accept: string, method = "GET") => ({ method, headers: { accept } })

  it.effect("are refused with 406, in JSON", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      for (const path of ["/things/7", "/vary", "/text", "/csv", "/health/liveness", "/openapi.json"]) {
        for (const accept of ["image/png", "application/json;q=0", "*/*;q=0"]) {
          const { headers, status, text } = yield* request(path, ask(accept))
          assert.strictEqual(status, 406, `${path} ${accept}`)
          assert.strictEqual(headers.get("content-type"), "application/problem+json")
          assert.strictEqual(headers.get("vary"), "Accept, Accept-Encoding")
          assert.containsSubset(JSON.parse(text), { title: "Not Acceptable", status: 406 })
        }
      }
      const { text } = yield* request("/things/7", ask("image/png"))
      assert.strictEqual(
        JSON.parse(text).detail,
        "The client accepts none of what is here: application/json, application/yaml."
      )
    })
  )

  it.effect("are not, where it takes what comes, or nothing comes, or it is an error", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      for (const [path, accept, status, type] of [
        ["/things/7", "image/png, */*;q=0.1", 200, "application/json"],
        ["/things/7", "text/yaml", 200, "application/yaml"],
        ["/things/7", "application/json;q=0, */*", 200, "application/yaml"],
        ["/things/7", "", 200, "application/json"],
        ["/html", "text/*", 200, "text/html"],
        ["/csv", "text/csv", 200, "text/csv"],
        ["/csv", "application/yaml", 200, "text/csv"],
        ["/ticks", "application/x-ndjson", 200, "application/x-ndjson"],
        ["/empty/204", "image/png", 204, null],
        ["/nowhere", "image/png", 404, "application/problem+json"],
        ["/things/x", "image/png, application/json;q=0", 406, "application/problem+json"],
        ["/conflict", "image/png", 409, "application/problem+json"],
        ["/fail", "image/png", 500, "application/problem+json"]
      ] as const) {
        const answer = yield* request(path, ask(accept))
        assert.deepStrictEqual([answer.status, answer.headers.get("content-type")], [status, type], `${path} ${accept}`)
      }
    })
  )

  it.effect("are not even made, where an API says what they would be", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const before = Number((yield* request("/count", { method: "POST" })).text)
      assert.strictEqual((yield* request("/count", ask("image/png", "POST"))).status, 406)
      assert.strictEqual((yield* request("/count", ask("text/yaml", "POST"))).text.trim(), String(before + 1))
      assert.strictEqual((yield* request("/count", ask("image/png", "DELETE"))).status, 204)
    })
  )

  it.effect("are given all the same by a raw route that may have changed something", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const { status, text } = yield* request("/raw/json", { ...ask("image/png", "POST"), body: "[1]" })
      assert.deepStrictEqual([status, text], [200, "[1]"])
    })
  )
})

describe("the request log", () => {
  const requestLines = (log: TestLog.TestLog) =>
    Effect.map(log.lines, (lines) =>
      lines.filter(({ level, namespace }) => level === "Information" && namespace === "layerhost.host.request")
    )

  it.effect("has a line for each request, without its query", () =>
    Effect.gen(function* () {
      const { log, request } = yield* TestHost.make([things], { listen: true })
      yield* request("/things/7?token=sesame", { headers: { "x-request-id": "one" } })
      yield* request("/text;token=sesame")
      yield* request("/nowhere#sesame?sesame")
      yield* request("/fail", { method: "HEAD" })
      const lines = yield* requestLines(log)
      assert.deepStrictEqual(
        lines.map(({ message }) => message),
        ["GET /things/7 200", "GET /text 200", "GET /nowhere 404", "HEAD /fail 500"]
      )
      assert.containsSubset(lines[0], {
        level: "Information",
        requestId: "one",
        labels: { method: "GET", route: "/things/{id}", status: 200, clientAddress: "127.0.0.1", bytes: 1 }
      })
      assert.isNull(lines[2]!.labels["route"])
      assert.notInclude(JSON.stringify(yield* log.lines), "sesame")
    })
  )

  it.effect("names the route of who was refused on the way there", () =>
    Effect.gen(function* () {
      const { log, request } = yield* TestHost.make([things], {
        config: {
          host: { maxRequestSize: 10 },
          ipRateLimiting: {
            enableEndpointRateLimiting: true,
            generalRules: [{ endpoint: "*:/th*", period: "1d", limit: 0 }]
          }
        }
      })
      const post = { method: "POST", headers: { "content-length": "11" }, body: "x".repeat(11) }
      const statuses = [
        (yield* request("/things/7?page=2")).status,
        (yield* request("/things/7", { method: "HEAD" })).status,
        (yield* request("/raw/text", post)).status,
        (yield* request("/any", post)).status,
        (yield* request("/raw/text", { ...post, headers: { "content-encoding": "lzw" }, body: "1" })).status,
        (yield* request("/thin-air")).status,
        (yield* request("/text", { method: "PUT" })).status
      ]
      assert.deepStrictEqual(statuses, [429, 429, 413, 413, 415, 429, 405])
      assert.deepStrictEqual(
        (yield* requestLines(log)).map(({ labels }) => labels["route"]),
        ["/things/{id}", "/things/{id}", "/raw/text", "/any", "/raw/text", null, null]
      )
    })
  )

  it.effect("leaves out what is asked of the host itself", () =>
    Effect.gen(function* () {
      const { log, request } = yield* TestHost.make([things])
      for (const path of ["/health/liveness", "/health/readiness", "/metrics"]) {
        assert.strictEqual((yield* request(path)).status, 200)
      }
      assert.deepStrictEqual(yield* requestLines(log), [])
    })
  )
})

describe("metrics of requests", () => {
  it.effect("count each by method, route and status, however it ended, and bound the labels", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      // The metrics are those of the whole process.
      const before = (yield* request("/metrics")).text
      yield* request("/things/1")
      yield* request("/things/2")
      yield* request("/things/x")
      yield* request("/fail")
      yield* request("/interrupt")
      yield* request("/bad-problem")
      yield* request("/not-json", yaml)
      yield* request("/nowhere/1")
      yield* request("/nowhere/2")
      yield* request("/any", { method: "UNLINK" })
      yield* request("/any", { method: "PURGE" })
      const after = (yield* request("/metrics")).text
      const countIn = (text: string, labels: Record<string, string>) => {
        const line = text
          .split("\n")
          .find(
            (line) =>
              line.startsWith("http_server_request_duration_seconds_count") &&
              Object.entries(labels).every(([name, value]) => line.includes(`${name}="${value}"`))
          )
        return Number(line?.split(" ").at(-1) ?? 0)
      }
      const count = (labels: Record<string, string>) => countIn(after, labels) - countIn(before, labels)
      const labels = (method: string, status: number, route?: string) => ({
        http_request_method: method,
        http_response_status_code: String(status),
        ...(route === undefined ? undefined : { http_route: route })
      })
      assert.strictEqual(count(labels("GET", 200, "/things/{id}")), 2)
      assert.strictEqual(count(labels("GET", 400, "/things/{id}")), 1)
      assert.strictEqual(count(labels("GET", 500, "/fail")), 1)
      assert.strictEqual(count(labels("GET", 503, "/interrupt")), 1)
      assert.strictEqual(count(labels("GET", 404)), 2)
      assert.strictEqual(count(labels("_OTHER", 200, "/any")), 2)
      assert.notInclude(after, "PURGE")
      // The one that asks.
      assert.match(after, /^http_server_active_requests 1$/m)
    })
  )
})
