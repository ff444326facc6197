import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { RouteRegistry } from "../../../src/Host/Http/RouteRegistry.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import { things } from "./support/things.ts"

type Method = "*" | "GET" | "POST" | "PUT" | "DELETE" | "OPTIONS"

/** Lets plugins `p0`, `p1`, … each claim one route. */
const claim = (routes: ReadonlyArray<readonly [Method, string]>) =>
  Effect.gen(function* () {
    const registry = new RouteRegistry(yield* HttpRouter.make)
    for (const [index, [method, path]] of routes.entries()) {
      const router = registry.rawRouter(`p${index}`)
      yield* router.add(method, path as HttpRouter.PathInput, HttpServerResponse.empty())
    }
    return registry
  })

describe("RouteRegistry", () => {
  it.effect.each<[[Method, string], [Method, string]]>([
    [
      ["GET", "/a"],
      ["GET", "/a"]
    ],
    [
      ["GET", "/a"],
      ["GET", "/A/"]
    ],
    [
      ["GET", "/a"],
      ["GET", "//a"]
    ],
    [
      ["GET", "/a"],
      ["*", "/a"]
    ],
    [
      ["*", "/a"],
      ["GET", "/a"]
    ],
    [
      ["*", "/a"],
      ["*", "/a"]
    ],
    [
      ["GET", "/a/:id"],
      ["GET", "/a/:name"]
    ],
    [
      ["GET", "/a/:id/b/:c"],
      ["GET", "/a/:x/B/:y"]
    ],
    [
      ["GET", "/a/*"],
      ["GET", "/a/*"]
    ],
    [
      ["GET", "/a/*"],
      ["GET", "/a"]
    ],
    [
      ["GET", "/a/:id?"],
      ["GET", "/a"]
    ],
    [
      ["GET", "/a/:id?"],
      ["GET", "/a/:b"]
    ],
    [
      ["GET", "/*"],
      ["GET", "/"]
    ]
  ])("finds the clash of %j", ([first, second]) =>
    Effect.gen(function* () {
      const registry = yield* claim([first, second])
      assert.deepStrictEqual(registry.clashes, [
        {
          route: { plugin: "p1", method: second[0], path: second[1] },
          existing: { plugin: "p0", method: first[0], path: first[1] }
        }
      ])
      assert.deepStrictEqual(registry.routes, [{ plugin: "p0", method: first[0], path: first[1] }])
    })
  )

  it.effect.each<[[Method, string], [Method, string]]>([
    [
      ["GET", "/a"],
      ["POST", "/a"]
    ],
    [
      ["GET", "/a"],
      ["GET", "/b"]
    ],
    [
      ["GET", "/a/:id"],
      ["GET", "/a/b"]
    ],
    [
      ["GET", "/a/:id"],
      ["GET", "/a/*"]
    ],
    [
      ["GET", "/a/:id"],
      ["GET", "/a/:id/b"]
    ],
    [
      ["GET", "/a/:id(^\\d+$)"],
      ["POST", "/a/:id([a-z]+)"]
    ],
    [
      ["GET", "/a/*"],
      ["*", "/b/*"]
    ]
  ])("takes both of %j", ([first, second]) =>
    Effect.map(claim([first, second]), (registry) => {
      assert.deepStrictEqual(registry.clashes, [])
      assert.lengthOf(registry.routes, 2)
    })
  )

  it.effect("notes routes under their prefixes", () =>
    Effect.gen(function* () {
      const registry = yield* claim([["GET", "/a/b/c"]])
      const router = registry.rawRouter("prefixed").prefixed("/a/").prefixed("/b")
      yield* router.add("GET", "/c", HttpServerResponse.empty())
      yield* router.add("GET", "/", HttpServerResponse.empty())
      assert.deepStrictEqual(
        registry.clashes.map(({ route }) => route.path),
        ["/a/b/c"]
      )
      assert.deepStrictEqual(
        registry.routes.map(({ path }) => path),
        ["/a/b/c", "/a/b"]
      )
    })
  )

  it.effect("tells the methods of a path, whichever of its routes they belong to", () =>
    Effect.gen(function* () {
      const registry = yield* claim([
        ["GET", "/items"],
        ["POST", "/items"],
        ["PUT", "/items/:id"],
        ["POST", "/items/search"],
        ["DELETE", "/files/*"],
        ["GET", "/optional/:id?"],
        ["*", "/any"],
        ["OPTIONS", "/items"]
      ])
      const methodsOf = registry.methodTable()
      const table: Record<string, ReadonlyArray<string>> = {
        "/items": ["GET", "HEAD", "OPTIONS", "POST"],
        "/ITEMS/?q=1": ["GET", "HEAD", "OPTIONS", "POST"],
        "/items/7": ["OPTIONS", "PUT"],
        "/items/search": ["OPTIONS", "POST", "PUT"],
        "/files": ["DELETE", "OPTIONS"],
        "/files/a/b": ["DELETE", "OPTIONS"],
        "/optional": ["GET", "HEAD", "OPTIONS"],
        "/optional/1": ["GET", "HEAD", "OPTIONS"],
        "/any": [],
        "/nowhere": [],
        "/items/7/8": [],
        "/items/%": [],
        "/items/%ff": [],
        "*": [],
        "": []
      }
      for (const [url, methods] of Object.entries(table)) assert.deepStrictEqual(methodsOf(url), methods, url)
    })
  )
})

describe("routing", () => {
  it.effect.each<[string, string, number, string | null]>([
    ["POST", "/nowhere", 404, null],
    ["GET", "/things/%", 404, null],
    ["GET", "/things/%zz", 404, null],
    ["GET", "/things/%c3%28", 404, null],
    ["GET", `/things/${"1".repeat(101)}`, 404, null],
    ["GET", "/files/%2e%2e%2f%00", 200, null],
    ["GET", "/lost", 404, null],
    ["HEAD", "/lost", 404, null],
    ["POST", "/things/1", 405, "GET, HEAD, OPTIONS, PUT"],
    ["PATCH", "/things/1", 405, "GET, HEAD, OPTIONS, PUT"],
    ["GET", "/echo", 405, "OPTIONS, POST"],
    ["HEAD", "/echo", 405, "OPTIONS, POST"],
    ["OPTIONS", "/echo", 204, "OPTIONS, POST"],
    ["OPTIONS", "/things/1?a=b", 204, "GET, HEAD, OPTIONS, PUT"],
    ["OPTIONS", "/nowhere", 404, null],
    ["POST", "/files/a", 405, "GET, HEAD, OPTIONS"],
    ["POST", "/health/liveness", 405, "GET, HEAD, OPTIONS"],
    ["OPTIONS", "/options", 200, null],
    ["GET", "/options", 405, "OPTIONS"],
    ["DELETE", "/any", 200, null],
    ["OPTIONS", "/any", 200, null],
    ["HEAD", "/any", 200, null]
  ])("answers %s %s with %i", ([method, path, status, allow]) =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const answer = yield* request(path, { method })
      assert.strictEqual(answer.status, status)
      assert.strictEqual(answer.headers.get("allow"), allow)
      if (status >= 400 && method !== "HEAD") {
        assert.strictEqual(answer.headers.get("content-type"), "application/problem+json")
        assert.strictEqual(JSON.parse(answer.text).status, status)
      }
    })
  )

  it.effect("gives a prefixed route the rest of the URL, and its body in YAML too", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const { text } = yield* request("/prefixed/json?a=1", {
        method: "POST",
        headers: { "content-type": "application/yaml" },
        body: "a: [1, two]"
      })
      assert.deepStrictEqual(JSON.parse(text), { url: "/json?a=1", body: { a: [1, "two"] } })
    })
  )
})
