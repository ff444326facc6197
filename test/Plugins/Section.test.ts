import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Section from "../../src/Plugins/Section.ts"

class Mail extends Section.Service<Mail>()("mail:out", {
  server: Schema.String,
  port: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(587))),
  password: Schema.RedactedFromValue(Schema.String)
}) {}

describe("Section", () => {
  it("has a key of its own, by its path", () => {
    assert.deepStrictEqual([Mail.path, Mail.key], ["mail:out", "layerhost/Section/mail:out"])
  })

  it.effect("decodes values for use without the host, defaults included", () =>
    Effect.gen(function* () {
      const mail = yield* Mail
      assert.deepStrictEqual([mail.server, mail.port, Redacted.value(mail.password)], ["mx", 587, "secret"])
    }).pipe(Effect.provide(Mail.layer({ server: "mx", password: "secret" })))
  )

  it.effect("tells every value that does not decode, and shows no secret", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        Effect.provide(Mail, Mail.layer({ server: 1, port: "a", password: { secret: "hunter2" } } as never))
      )
      assert.match(error.message, /server/)
      assert.match(error.message, /port/)
      assert.match(error.message, /password/)
      assert.notInclude(error.message, "hunter2")
    })
  )
})
