import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as AcceptEncoding from "../../../src/Host/Compression/AcceptEncoding.ts"

const hostile = Arbitrary.map(
  Arbitrary.array(
    Arbitrary.schema(
      Schema.Literals([...'*,;= \t"\\é\u0000', "br", "gzip", "identity", "q=", "0", "1", ".5", "x-gzip", "deflate"])
    ),
    { maxLength: 30 }
  ),
  (parts) => parts.join("")
)

describe("AcceptEncoding.choose", () => {
  it.each([
    [undefined, "identity"],
    ["", "identity"],
    ["br", "br"],
    ["gzip", "gzip"],
    ["GZIP", "gzip"],
    ["x-gzip", "gzip"],
    ["gzip, deflate, br, zstd", "br"],
    ["gzip, deflate", "gzip"],
    ["deflate", "identity"],
    ["zstd", "identity"],
    ["*", "br"],
    ["*;q=0.1", "br"],
    ["br;q=0, *", "gzip"],
    ["gzip;q=1, br;q=0.9", "gzip"],
    ["gzip;q=0.5, br;q=0.5", "br"],
    ["gzip;q=0", "identity"],
    ["gzip;q=0.0", "identity"],
    ["gzip;q=0.001", "gzip"],
    ["gzip ; q=0.8 , br ; Q=0.2", "gzip"],
    ["identity", "identity"],
    ["identity, br", "br"],
    ["identity;q=1, gzip;q=0.5", "identity"],
    ["identity;q=0.5, gzip;q=1", "gzip"],
    // Nothing is left: the answer comes as it is.
    ["identity;q=0", "identity"],
    ["*;q=0", "identity"],
    ["*;q=0, gzip", "gzip"],
    ["gzip;q=0, *;q=0", "identity"],
    // What breaks the grammar is passed over.
    ["br;q=2, gzip", "gzip"],
    ["br;q=0.1234, gzip", "gzip"],
    ["br;level=1, gzip", "gzip"],
    ["b r, gzip", "gzip"],
    [",,gzip,,", "gzip"]
  ])("of %j is %s", (header, coding) => {
    assert.strictEqual(AcceptEncoding.choose(header).coding, coding)
  })

  it.each([
    ["gzip", true],
    ["gzip, identity;q=0", false],
    ["gzip, *;q=0", false],
    ["gzip, *;q=0, identity;q=0.1", true],
    ["*", true]
  ])("of %j takes the answer as it is: %s", (header, expected) => {
    assert.strictEqual(AcceptEncoding.choose(header).takesIdentity, expected)
  })

  it.prop("takes any text", { header: hostile }, ({ header }) => {
    assert.include(["br", "gzip", "identity"], AcceptEncoding.choose(header).coding)
  })
})
