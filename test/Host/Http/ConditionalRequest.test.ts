import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Plugin from "../../../src/Plugins/Plugin.ts"
import * as PluginApi from "../../../src/Plugins/PluginApi.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"

const tagged = (etag: string, size = 2) =>
  HttpServerResponse.jsonUnsafe(
    { text: "x".repeat(size) },
    { headers: { etag, "cache-control": "max-age=1", "last-modified": "Mon, 02 Jan 2034 03:04:05 GMT" } }
  )

const Api = HttpApi.make("tagged").add(
  HttpApiGroup.make("tagged").add(
    HttpApiEndpoint.get("get", "/api", {
      success: HttpApiSchema.WithHeaders(Schema.Number, { etag: Schema.String })
    })
  )
)

const plugin = Plugin.make({
  id: "tagged",
  apis: [
    PluginApi.make(
      Api,
      HttpApiBuilder.group(Api, "tagged", (handlers) =>
        handlers.handle("get", () =>
          Effect.succeed(HttpApiSchema.withHeaders({ body: 7, headers: { etag: '"seven"' } }))
        )
      )
    )
  ],
  routes: Layer.mergeAll(
    HttpRouter.add("GET", "/strong", tagged('"a,b"')),
    HttpRouter.add("GET", "/weak", tagged('W/"a"')),
    HttpRouter.add("GET", "/large", tagged('"a"', 5_000)),
    HttpRouter.add("GET", "/huge", tagged('"a"', 500_000)),
    HttpRouter.add("POST", "/strong", tagged('"a,b"')),
    HttpRouter.add("GET", "/error", HttpServerResponse.jsonUnsafe({}, { status: 410, headers: { etag: '"a"' } })),
    HttpRouter.add("GET", "/untagged", HttpServerResponse.jsonUnsafe({}))
  )
})

describe("a client that has the answer", () => {
  it.effect.each<[string, Record<string, string>, number]>([
    ["/strong", { "if-none-match": '"a,b"' }, 304],
    ["/strong", { "if-none-match": 'W/"a,b"' }, 304],
    ["/strong", { "if-none-match": '"x", W/"y" , "a,b"' }, 304],
    ["/strong", { "if-none-match": "*" }, 304],
    ["/strong", { "if-none-match": '"a"' }, 200],
    ["/strong", { "if-none-match": "a,b" }, 200],
    ["/strong", { "if-none-match": "" }, 200],
    ["/weak", { "if-none-match": '"a"' }, 304],
    ["/weak", { "if-none-match": 'W/"a"' }, 304],
    ["/untagged", { "if-none-match": "*" }, 200],
    ["/error", { "if-none-match": '"a"' }, 410],
    ["/strong", { "if-modified-since": "Mon, 02 Jan 2034 03:04:05 GMT" }, 304],
    ["/strong", { "if-modified-since": "Mon, 02 Jan 2034 03:04:06 GMT" }, 304],
    ["/strong", { "if-modified-since": "Mon, 02 Jan 2034 03:04:04 GMT" }, 200],
    ["/strong", { "if-modified-since": "yesterday" }, 200],
    ["/untagged", { "if-modified-since": "Mon, 02 Jan 2034 03:04:05 GMT" }, 200],
    // The tag counts where there are both.
    ["/strong", { "if-none-match": '"x"', "if-modified-since": "Mon, 02 Jan 2034 03:04:05 GMT" }, 200],
    ["/api", { "if-none-match": '"seven"' }, 304],
    ["/api", { "if-none-match": '"eight"' }, 200]
  ])("asks for %s with %j and gets %i", ([path, headers, status]) =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([plugin])
      for (const method of ["GET", "HEAD"]) {
        const answer = yield* request(path, { method, headers })
        assert.strictEqual(answer.status, status, method)
        assert.strictEqual(answer.text === "", status === 304 || method === "HEAD")
      }
      if (status === 304) assert.strictEqual((yield* request("/strong", { method: "POST", headers })).status, 200)
    })
  )

  it.effect("gets the headers by which a cache finds what it has, whatever coding and format that came in", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([plugin])
      for (const accept of ["application/json", "application/yaml"]) {
        for (const coding of ["identity", "br", "gzip"]) {
          for (const path of ["/strong", "/large", "/huge"]) {
            const headers = { accept, "accept-encoding": coding }
            const first = yield* request(path, { headers })
            const etag = first.headers.get("etag")!
            assert.strictEqual(
              etag.startsWith("W/"),
              accept === "application/yaml" || first.headers.has("content-encoding")
            )
            const again = yield* request(path, { headers: { ...headers, "if-none-match": etag } })
            assert.strictEqual(again.status, 304)
            for (const name of ["etag", "vary", "cache-control", "last-modified"]) {
              assert.strictEqual(again.headers.get(name), first.headers.get(name), name)
            }
            for (const name of ["content-type", "content-encoding", "content-length"]) {
              assert.isFalse(again.headers.has(name), name)
            }
          }
        }
      }
    })
  )

  it.effect.each(["/openapi.json", "/openapi.yaml", "/docs"])("is not sent the documentation again: %s", (path) =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([plugin])
      const first = yield* request(path)
      const headers = { "if-none-match": `"other", ${first.headers.get("etag")}` }
      const again = yield* request(path, { headers })
      assert.deepStrictEqual([again.status, again.text], [304, ""])
      const other = yield* request(path, { headers: { "if-none-match": '"other"' } })
      assert.deepStrictEqual([other.status, other.text], [200, first.text])
    })
  )

  it.effect("is spared a file, which is closed", () =>
    Effect.gen(function* () {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "layerhost-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const path = join(directory, "file.json")
      writeFileSync(path, "x".repeat(100_000))
      const { request } = yield* TestHost.make(
        [Plugin.make({ id: "file", routes: HttpRouter.add("GET", "/file", HttpServerResponse.file(path)) })],
        { listen: true }
      )
      for (const coding of ["identity", "br"]) {
        const first = yield* request("/file", { headers: { "accept-encoding": coding } })
        const headers = { "accept-encoding": coding, "if-none-match": first.headers.get("etag")! }
        assert.strictEqual((yield* request("/file", { headers })).status, 304)
      }
    })
  )
})

describe("HEAD", () => {
  /** Status and headers, as they come over the wire. */
  const ask = (url: string, method: string, headers: http.OutgoingHttpHeaders) =>
    Effect.callback<http.IncomingMessage>((resume) => {
      http
        .request(url, { method, headers: { ...headers, "x-request-id": "the-id" }, agent: false }, (response) => {
          response.resume()
          response.once("end", () => resume(Effect.succeed(response)))
        })
        .end()
    })

  it.effect("has the headers that GET has, compressed or not, in JSON and YAML", () =>
    Effect.gen(function* () {
      const { url } = yield* TestHost.make([plugin], { listen: true })
      for (const path of ["/strong", "/large", "/huge", "/error", "/nowhere", "/docs", "/openapi.json"]) {
        for (const coding of ["identity", "br", "gzip"]) {
          for (const accept of ["application/json", "application/yaml"]) {
            const headers = { accept, "accept-encoding": coding }
            const get = yield* ask(`${url}${path}`, "GET", headers)
            const head = yield* ask(`${url}${path}`, "HEAD", headers)
            assert.strictEqual(head.statusCode, get.statusCode)
            const comparable = ({ headers: { date: _date, ...rest } }: http.IncomingMessage) => rest
            assert.deepStrictEqual(comparable(head), comparable(get), `${path} ${coding} ${accept}`)
          }
        }
      }
    })
  )
})
