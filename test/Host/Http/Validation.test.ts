import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as YAML from "yaml"
import * as TestHost from "../../../src/testing/TestHost.ts"
import { things } from "./support/things.ts"

const formats = {
  json: { type: "application/json", write: (value: unknown) => JSON.stringify(value) },
  yaml: { type: "application/yaml", write: (value: unknown) => YAML.stringify(value) }
}

/** The fields of an invalid request, in the order of the answer. */
const fieldsOf = ({ status, text }: TestHost.TestResponse): ReadonlyArray<string> => {
  assert.strictEqual(status, 400, text)
  const problem = JSON.parse(text)
  assert.strictEqual(problem.detail, "The request is not valid.")
  return problem.validationErrors.map(({ field, validationMessage }: Record<string, string>) => {
    assert.isNotEmpty(validationMessage)
    return field
  })
}

describe.each(Object.entries(formats))("validation of %s", (_name, { type, write }) => {
  const put = (send: TestHost.Service["request"], path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(path, { method: "PUT", headers: { "content-type": type, "x-level": "1", ...headers }, body: write(body) })
  const valid = { name: "a", count: 1, nested: { deep: true } }

  it.effect("passes what is valid", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const { status, text } = yield* put(request, "/things/1?page=2&tags=a", valid)
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(JSON.parse(text), valid)
    })
  )

  it.effect("lists every invalid field of path, query, headers and body at once", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const answer = yield* put(
        request,
        "/things/x?page=y&tags=&tags=ok",
        { name: "", nested: { deep: "no" } },
        { "x-level": "high" }
      )
      assert.deepStrictEqual(fieldsOf(answer), ["id", "page", "tags.0", "x-level", "name", "count", "nested.deep"])
    })
  )

  it.effect.each<[string, string, unknown, ReadonlyArray<string>]>([
    ["the path", "/things/x?page=1&tags=a", valid, ["id"]],
    ["the query", "/things/1", valid, ["page", "tags"]],
    ["one field of the body", "/things/1?page=1&tags=a", { ...valid, count: 1.5 }, ["count"]],
    ["the body as a whole", "/things/1?page=1&tags=a", [1], ["body"]],
    ["the path and the body as a whole", "/things/x?page=1&tags=a", "text", ["id", "body"]]
  ])("lists %s", ([_name, path, body, fields]) =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      assert.deepStrictEqual(fieldsOf(yield* put(request, path, body)), fields)
    })
  )

  it.effect("does not repeat values, which may be secrets", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const { text } = yield* put(request, "/things/hunter2?page=hunter2&tags=a", {
        name: ["hunter2"],
        count: "hunter2"
      })
      assert.notInclude(text, "hunter2")
    })
  )

  it.effect("lists the fields of a body that a raw route decodes", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const answer = yield* request("/raw/schema", {
        method: "POST",
        headers: { "content-type": type },
        body: write({ name: 1, count: 2 })
      })
      assert.deepStrictEqual(fieldsOf(answer), ["name", "nested"])
    })
  )
})

describe("validation", () => {
  it.effect.each([
    ["JSON", "application/json", "{"],
    ["JSON without a type", "", "{"],
    ["YAML", "application/yaml", "a: 'b"],
    ["UTF-8 in JSON", "application/json", Uint8Array.of(0x22, 0xff, 0x22)],
    ["UTF-8 in YAML", "text/yaml", Uint8Array.of(0x61, 0xc3)],
    ["UTF-8 without a type", "", Uint8Array.of(0x22, 0xff, 0x22)]
  ] as ReadonlyArray<[string, string, string | Uint8Array<ArrayBuffer>]>)(
    "lists a body that is not %s beside the other invalid fields",
    ([_name, type, body]) =>
      Effect.gen(function* () {
        const { request } = yield* TestHost.make([things])
        // A string would be given a type.
        const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body
        const headers: Record<string, string> = type === "" ? {} : { "content-type": type }
        const put = (path: string, level: string) =>
          request(path, { method: "PUT", headers: { ...headers, "x-level": level }, body: bytes })
        assert.deepStrictEqual(fieldsOf(yield* put("/things/x?page=1&tags=a", "high")), ["id", "x-level", "body"])
        assert.deepStrictEqual(fieldsOf(yield* put("/things/1?page=1&tags=a", "1")), ["body"])
      })
  )

  it.effect("takes an empty body where null is taken, and lists it where not", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      assert.strictEqual((yield* request("/maybe/1", { method: "POST" })).status, 200)
      assert.deepStrictEqual(fieldsOf(yield* request("/maybe/x", { method: "POST" })), ["id"])
      assert.deepStrictEqual(fieldsOf(yield* request("/echo", { method: "POST" })), ["body"])
    })
  )

  it.effect("lists excess fields where the API wants none", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const body = JSON.stringify({ name: "", count: 1, nested: { deep: true, deeper: true }, more: 1 })
      const headers = { "content-type": "application/json" }
      const put = (path: string) => request(path, { method: "PUT", headers, body })
      assert.deepStrictEqual(fieldsOf(yield* put("/strict/x")), ["id", "more", "name", "nested.deeper"])
      assert.deepStrictEqual(fieldsOf(yield* put("/strict/1")), ["more", "name", "nested.deeper"])
    })
  )

  it.effect("lists the fields of a form", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const post = (body: string) => request("/form", { method: "POST", body: new URLSearchParams(body) })
      assert.strictEqual((yield* post("count=1&name=a")).text, '"a"')
      assert.deepStrictEqual(fieldsOf(yield* post("count=x&name=")), ["count", "name"])
    })
  )

  it.effect("tells of a body that is too large as that, whatever else is invalid", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things], { config: { host: { maxRequestSize: 10 } } })
      const { status } = yield* request("/things/x", {
        method: "PUT",
        body: new Blob(["x".repeat(11)]).stream(),
        duplex: "half"
      } as RequestInit)
      assert.strictEqual(status, 413)
    })
  )
})
