import { Validator } from "@seriousme/openapi-schema-validator"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as YAML from "yaml"
import * as DocsRoutes from "../../../src/Host/Docs/DocsRoutes.ts"
import { mergeOf, optionsOf } from "./apis.ts"

const Thing = Schema.Struct({ name: Schema.String }).annotate({
  identifier: "Thing",
  description: "</script><script>alert(1)</script>"
})

const things = (path: `/${string}`) =>
  HttpApi.make("api").add(HttpApiGroup.make("things").add(HttpApiEndpoint.get("list", path, { success: Thing })))

const apis = [
  ["one", things("/one")],
  ["two", things("/two")]
] as const

const serve = (options = optionsOf(apis)) =>
  HttpRouter.serve(HttpRouter.addAll(DocsRoutes.make(options)), { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(NodeHttpServer.layerTest)
  )

const get = (path: string, headers?: Record<string, string>) =>
  Effect.flatMap(HttpClient.get(path, headers && { headers }), (response) =>
    Effect.map(response.text, (text) => ({ status: response.status, headers: response.headers, text }))
  )

/** As a browser finds them: a script ends at the first end tag, and what is in it counts for nothing else. */
const scriptsOf = (html: string): ReadonlyArray<string> => {
  const start = html.indexOf("<script>")
  if (start < 0) return []
  const end = html.indexOf("</script>", start)
  return [html.slice(start + "<script>".length, end), ...scriptsOf(html.slice(end))]
}

describe("GET /openapi.json", () => {
  it.effect("answers the merged document", () =>
    Effect.gen(function* () {
      const { headers, status, text } = yield* get("/openapi.json")
      assert.strictEqual(status, 200)
      assert.strictEqual(headers["content-type"], "application/json")
      assert.deepStrictEqual(JSON.parse(text), mergeOf(apis))
    }).pipe(Effect.provide(serve()))
  )

  it.effect("makes the document once, and not before it is asked for", () => {
    let made = 0
    const counted = HttpApi.make("api").annotate(OpenApi.Transform, (document) => {
      made++
      return document
    })
    return Effect.gen(function* () {
      assert.strictEqual(made, 0)
      yield* Effect.all([get("/openapi.json"), get("/openapi.yaml"), get("/docs"), get("/openapi.json")], {
        concurrency: "unbounded"
      })
      assert.strictEqual(made, 1)
    }).pipe(Effect.provide(serve(optionsOf([["one", counted]]))))
  })
})

describe("GET /openapi.yaml", () => {
  it.effect("answers the same document, without aliases", () =>
    Effect.gen(function* () {
      const { headers, status, text } = yield* get("/openapi.yaml")
      assert.strictEqual(status, 200)
      assert.strictEqual(headers["content-type"], "application/yaml")
      assert.notMatch(text, /[&*]a1/)
      assert.deepStrictEqual(YAML.parse(text), mergeOf(apis))
      assert.deepStrictEqual(yield* Effect.promise(() => new Validator().validate(text)), { valid: true })
    }).pipe(Effect.provide(serve()))
  )
})

describe("GET /docs", () => {
  it.effect("answers a page whose policy allows its own scripts only", () =>
    Effect.gen(function* () {
      const { headers, status, text } = yield* get("/docs")
      assert.strictEqual(status, 200)
      assert.strictEqual(headers["content-type"], "text/html; charset=utf-8")
      const scripts = scriptsOf(text)
      const hashes = scripts.map((script) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`)
      assert.strictEqual(scripts.length, 2)
      // A browser would turn these into line feeds before it computes the hash.
      assert.notInclude(text, "\r")
      const policy = headers["content-security-policy"]!.split("; ")
      assert.include(policy, `script-src ${hashes.join(" ")}`)
      assert.include(policy, "default-src 'none'")
      assert.include(policy, "connect-src 'self'")
      assert.notInclude(policy.join(), "http")
    }).pipe(Effect.provide(serve()))
  )

  it.effect("loads nothing from elsewhere, and shows the document as data", () =>
    Effect.gen(function* () {
      const { text } = yield* get("/docs")
      const markup = scriptsOf(text).reduce((html, script) => html.replace(script, () => ""), text)
      assert.notMatch(markup, /\b(src|href)=|https?:|url\(/)
      assert.notInclude(text, "<script>alert(1)")
      assert.include(text, "\\u003c/script>\\u003cscript>alert(1)")
      assert.include(text, '"withDefaultFonts":false')
      // Scalar takes the page's own origin then.
      assert.notInclude(text, '"servers":[{"url":"/"}]')
    }).pipe(Effect.provide(serve()))
  )
})
