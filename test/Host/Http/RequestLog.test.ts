import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as RequestLog from "../../../src/Host/Http/RequestLog.ts"
import * as JsonFormat from "../../../src/Host/Logging/JsonFormat.ts"

const Span = Schema.Struct({ traceId: Schema.String, spanId: Schema.String })

const Answered = Schema.Struct({
  method: Schema.Union([Schema.Literals(["GET", "POST"]), Schema.String]),
  url: Schema.Union([Schema.Literals(["/items/42", "/", "/a;b#c?d=e", "/x?token=1"]), Schema.String]),
  path: Schema.Union([Schema.Literals(["/items/42", "/"]), Schema.String]),
  requestId: Schema.String,
  route: Schema.UndefinedOr(Schema.String),
  clientAddress: Schema.UndefinedOr(Schema.String),
  span: Schema.UndefinedOr(Span),
  status: Schema.Int.check(Schema.isBetween({ minimum: 200, maximum: 599 })),
  bytes: Schema.UndefinedOr(Schema.Int),
  time: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 4e12 })),
  seconds: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1e6 }))
})

describe("RequestLog", () => {
  it.prop("writes a line by hand as the format json writes its record", [Answered], ([answered]) => {
    assert.strictEqual(RequestLog.jsonOf(answered), JsonFormat.format(RequestLog.recordOf(answered, false)))
  })
})
