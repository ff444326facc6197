import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { toIso } from "../../../src/Host/Logging/Timestamp.ts"

describe("Timestamp", () => {
  it.prop(
    "is what Date makes of it, whatever came before",
    { times: Schema.Array(Schema.Literals([0, 1, 999, 1000, 1001, -1, -1000, -1001, 8.64e15, 1767323045006])) },
    ({ times }) => {
      for (const time of times) assert.strictEqual(toIso(time), new Date(time).toISOString())
    }
  )
})
