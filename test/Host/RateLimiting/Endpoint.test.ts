import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Endpoint from "../../../src/Host/RateLimiting/Endpoint.ts"
import { textsOf } from "./limiter.ts"

const isMatch = (pattern: string, request: string): boolean => {
  const [method, target] = request.split(" ") as [string, string]
  return Endpoint.matches(
    Result.getOrThrow(Endpoint.parsePattern(pattern)),
    Endpoint.verbOf(method),
    Endpoint.pathOf(target)
  )
}

describe("Endpoint", () => {
  for (const [pattern, request, expected] of [
    ["*", "GET /", true],
    ["*", "DELETE /any/path", true],
    ["*:*", "GET /any/path", true],
    ["*:/*", "GET /", true],
    ["*:/api/values", "PUT /api/values", true],
    ["*:/api/values", "PUT /api/values/1", false],
    ["get:/api/values", "GET /api/values", true],
    ["get:/api/values", "POST /api/values", false],
    ["get:/", "GET /", true],
    ["get:/", "GET /a", false],
    ["GET:/API/Values/", "GET /api/values", true],
    ["get:/api/values", "GET /API/VALUES/?page=2", true],
    ["get:/api/values", "GET //api///values//", true],
    ["get:/api/values", "GET /api/%76alues", true],
    ["get:/api/values", "GET /api/values;session=1", true],
    ["get:/api/values", "GET http://host:80/api/values", true],
    ["get:/api/values", "GET /api/%76alues%", false],
    ["get:/caf%C3%89", "GET /caf%c3%a9", true],
    ["*:/api/*", "GET /api/values/1/parts", true],
    ["*:/api/*", "GET /api", false],
    ["*:/api*", "GET /api", true],
    ["*:*/parts", "GET /api/values/1/parts", true],
    ["*:/api/?/parts", "GET /api/1/parts", true],
    ["*:/api/?/parts", "GET /api/12/parts", false],
    ["*:/a*b*c", "GET /a/b/b/c", true],
    ["*:/a*b*c", "GET /a/c/b", false],
    ["get:/", "OPTIONS *", false]
  ] as const) {
    it(`${pattern} ${expected ? "means" : "does not mean"} ${request}`, () => {
      assert.strictEqual(isMatch(pattern, request), expected)
    })
  }

  for (const [pattern, message] of [
    ["", " is not an endpoint: *, or a verb or * and a path as in get:/api/values"],
    ["/api", "/api is not an endpoint: *, or a verb or * and a path as in get:/api/values"],
    ["get:api", "get:api is not an endpoint: *, or a verb or * and a path as in get:/api/values"],
    ["fetch:/api", "fetch:/api does not begin with an HTTP verb or *"]
  ] as const) {
    it(`refuses ${JSON.stringify(pattern)}`, () => {
      assert.deepStrictEqual(Endpoint.parsePattern(pattern), Result.fail(message))
    })
  }

  it.prop(
    "matches as a regular expression does",
    [textsOf([..."ab/*?"]), textsOf([..."ab/"])],
    ([pattern, text]) => {
      const parsed = Result.getOrThrow(Endpoint.parsePattern(`get:/${pattern}`))
      const path = Endpoint.pathOf(`/${text}`)
      const expected = new RegExp(`^${(parsed.path ?? "*").replaceAll("*", ".*").replaceAll("?", ".")}$`).test(path)
      assert.strictEqual(Endpoint.matches(parsed, "get", path), expected)
    },
    { arbitrary: { runs: 2000 } }
  )

  it("needs no backtracking of backtracking", () => {
    assert.isFalse(isMatch(`*:/${"*a".repeat(50)}b`, `GET /${"a".repeat(5_000)}`))
  })

  it.prop(
    "makes one path of whatever a client sends, and keeps it",
    [textsOf([..."aZ/%;?#.*é ", "%41", "%2f", "%25", "%c3%89", "%ff", "http://x"])],
    ([text]) => {
      const path = Endpoint.pathOf(text)
      assert.isFalse(/[A-Z]|\/\/|.\/$/.test(path))
      // What is still escaped, or was escaped twice, is another path when it is sent as it is.
      if (!/[%?;#]/.test(path)) assert.strictEqual(Endpoint.pathOf(path), path)
    }
  )
})
