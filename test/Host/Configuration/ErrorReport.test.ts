import { assert, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { expect } from "vitest"
import * as Configuration from "../../../src/Host/Configuration/Configuration.ts"
import { decode } from "../../../src/Host/Configuration/Decode.ts"
import { HostConfig } from "../../../src/Host/Configuration/HostConfig.ts"
import * as Section from "../../../src/Plugins/Section.ts"
import { layer, makeDirectory } from "./support.ts"

class Mail extends Section.Service<Mail>()("mail", {
  server: Schema.String,
  port: Schema.Port,
  secure: Schema.Boolean,
  mode: Schema.Literals(["Direct", "Queue"]),
  recipients: Schema.Array(Schema.Struct({ name: Schema.String, address: Schema.NonEmptyString })),
  password: Schema.RedactedFromValue(Schema.String.check(Schema.isMinLength(12)))
}) {}

withLayer(layer)((test) => {
  test.effect("ten mistakes in three files and one variable are one report", () =>
    Effect.gen(function* () {
      const directory = yield* makeDirectory({
        "appsettings.yaml": `host:
  urls: http://+:8080/app
  maxRequestSize: 8MB
  shutdownTimeout: 30
mail:
  server: localhost
  port: 70000
  secure: yes
  recipients:
    - name: a
      address: ""
    - nmae: b
      address: b@example.org
`,
        "appsettings.production.json": `{
  // The queue is for production.
  "mail": {
    "mode": "queued",
  }
}`,
        "appsettings.secrets.yaml": "mail:\n  password: hunter2\n"
      })
      const tree = yield* Configuration.load({ directory, environment: { HOST_SHUTDOWNDELAY: "soon" } })
      const error = yield* Effect.flip(
        decode(tree, [
          { section: HostConfig, owner: "layerhost/Host" },
          { section: Mail, owner: "mailer" }
        ])
      )
      assert.strictEqual(error.problems.length, 10)
      expect(error.message.replaceAll(directory, "/srv/app")).toMatchInlineSnapshot(`
        "10 configuration errors:
          host:urls: http://+:8080/app has a path; a listener takes all paths
              from /srv/app/appsettings.yaml:2:9 (plugin layerhost/Host)
          host:maxRequestSize: expected a number, found "8MB"
              from /srv/app/appsettings.yaml:3:19 (plugin layerhost/Host)
          host:shutdownTimeout: expected a duration such as "30 seconds", "30s" or "PT30S", found "30"
              from /srv/app/appsettings.yaml:4:20 (plugin layerhost/Host)
          host:shutdownDelay: expected a duration such as "30 seconds", "30s" or "PT30S", found "soon"
              from environment variable HOST_SHUTDOWNDELAY (plugin layerhost/Host)
          mail:port: expected a port number, found "70000"
              from /srv/app/appsettings.yaml:7:9 (plugin mailer)
          mail:secure: expected true or false, found "yes"
              from /srv/app/appsettings.yaml:8:11 (plugin mailer)
          mail:mode: expected one of Direct, Queue, found "queued"
              from /srv/app/appsettings.production.json:4:13 (plugin mailer)
          mail:recipients:0:address: expected a value with a length of at least 1, found ""
              from /srv/app/appsettings.yaml:11:16 (plugin mailer)
          mail:recipients:1:name: is not set, and has no default
              from /srv/app/appsettings.yaml:12:7 (plugin mailer)
          mail:password: expected a value with a length of at least 12, found a value that is not shown
              from /srv/app/appsettings.secrets.yaml:2:13 (plugin mailer)
        1 warning:
          mail:recipients:1:nmae: unknown key; did you mean mail:recipients:1:name?
              from /srv/app/appsettings.yaml:12:13 (plugin mailer)"
      `)
    })
  )
})
