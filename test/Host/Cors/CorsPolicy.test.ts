import { assert, describe, it } from "@effect/vitest"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Configuration from "../../../src/Host/Configuration/Configuration.ts"
import { decode } from "../../../src/Host/Configuration/Decode.ts"
import { CorsPolicy } from "../../../src/Host/Cors/CorsPolicy.ts"

const read = (values: Readonly<Record<string, unknown>>) =>
  Effect.gen(function* () {
    const tree = yield* Configuration.load({ values: { CorsPolicy: values } })
    const { services } = yield* decode(tree, [{ section: CorsPolicy, owner: "layerhost/host" }])
    return Context.get(services as Context.Context<CorsPolicy>, CorsPolicy)
  }).pipe(Effect.provide(NodeServices.layer))

describe("the section CorsPolicy", () => {
  it.effect("allows everything but credentials by default", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        { ...(yield* read({})) },
        { origins: ["*"], methods: ["*"], headers: ["*"], exposedHeaders: ["*"], allowCredentials: false }
      )
    })
  )

  it.effect("takes lists, empty ones too", () =>
    Effect.gen(function* () {
      const policy = yield* read({
        origins: ["https://shop.example", "https://*.shop.example"],
        methods: [],
        allowCredentials: true,
        maxAge: "1h"
      })
      assert.deepStrictEqual(policy.origins, ["https://shop.example", "https://*.shop.example"])
      assert.deepStrictEqual(policy.methods, [])
      assert.isTrue(policy.allowCredentials)
      assert.strictEqual(Duration.toMillis(policy.maxAge!), 3_600_000)
    })
  )

  it.effect.each<[Record<string, unknown>, RegExp]>([
    [{ origins: ["https://shop.example/"] }, /CorsPolicy:origins:0: .*is not an origin such as/],
    [{ origins: ["shop.example"] }, /is not an origin/],
    [{ origins: ["null"] }, /is not an origin/],
    [{ origins: ["https://a.*.example"] }, /is not an origin/],
    [{ origins: ["https://*"] }, /is not an origin/],
    [{ origins: ["https://shop.example:99999"] }, /is not an origin/],
    [{ origins: ["https://user@shop.example"] }, /is not an origin/],
    [{ origins: ["*", "https://shop.example"] }, /CorsPolicy:origins: .*stands alone/],
    [{ methods: ["GET", "*"] }, /CorsPolicy:methods: .*stands alone/],
    [{ methods: ["GET POST"] }, /CorsPolicy:methods:0: expected a method/],
    [{ headers: ["X-A, X-B"] }, /CorsPolicy:headers:0: expected the name of a header/],
    [{ exposedHeaders: [""] }, /CorsPolicy:exposedHeaders:0: /],
    [{ allowCredentials: true }, /CorsPolicy:allowCredentials: expected false where any origin is allowed/]
  ])("refuses %j", ([values, expected]) =>
    Effect.gen(function* () {
      assert.match((yield* Effect.flip(read(values))).message, expected)
    })
  )
})
