import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as RequestId from "../../../src/Host/Http/RequestId.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import { hostileText } from "./support/arbitraries.ts"
import { things } from "./support/things.ts"

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe("RequestId.fromHeader", () => {
  it.each(["a", "4bf92f3577b34da6a3ce929d0e0e4736", "Root=1-67891233-abc/x.y~z_w+q:0", "x".repeat(128)])(
    "takes the token %s",
    (value) => {
      assert.strictEqual(RequestId.fromHeader(value), value)
    }
  )

  it.each([
    undefined,
    "",
    " ",
    "a b",
    "a,b",
    "a\nb",
    "a\n",
    'a"b',
    "{}",
    "é",
    "a\u0000",
    "\u001b[31m",
    "x".repeat(129)
  ])("makes a new one in place of %j", (value) => {
    assert.match(RequestId.fromHeader(value), uuid)
  })

  it("makes a different one each time", () => {
    assert.strictEqual(new Set(Array.from({ length: 100 }, () => RequestId.fromHeader(undefined))).size, 100)
  })

  it.prop("keeps sane tokens and nothing else", { value: hostileText }, ({ value }) => {
    const id = RequestId.fromHeader(value)
    assert.isTrue(/^[\w\-.~+/=:]{1,128}$/.test(value) ? id === value : uuid.test(id))
  })
})

describe("X-Request-Id", () => {
  it.effect("is on every answer, taken from the request where it can be", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      for (const path of ["/text", "/nowhere", "/fail", "/health/liveness", "/things/x"]) {
        const given = yield* request(path, { headers: { "x-request-id": "abc-123" } })
        assert.strictEqual(given.headers.get("x-request-id"), "abc-123")
        assert.match((yield* request(path)).headers.get("x-request-id") ?? "", uuid)
        const forged = yield* request(path, { headers: { "x-request-id": 'a" level=error' } })
        assert.match(forged.headers.get("x-request-id") ?? "", uuid)
      }
    })
  )

  it.effect("is made anew where a client sends two", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things], { listen: true })
      const headers = new Headers()
      headers.append("x-request-id", "one")
      headers.append("x-request-id", "two")
      assert.match((yield* request("/text", { headers })).headers.get("x-request-id") ?? "", uuid)
    })
  )
})
