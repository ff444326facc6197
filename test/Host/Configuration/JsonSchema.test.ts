import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createRequire } from "node:module"
import { parse as parseYaml } from "yaml"
import * as JsonSchema from "../../../src/Host/Configuration/JsonSchema.ts"
import { hostSections } from "../../../src/Host/HostConfiguration.ts"
import * as Section from "../../../src/Plugins/Section.ts"

interface Tree {
  readonly name: string
  readonly children: ReadonlyArray<Tree>
}
const Tree: Schema.Codec<Tree, unknown> = Schema.Struct({
  name: Schema.String,
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree, unknown> => Tree))
}).annotate({ identifier: "Tree" }) as unknown as Schema.Codec<Tree, unknown>

class Mail extends Section.Service<Mail>()("mail", {
  server: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("localhost"))).annotateKey({
    description: "Where mail goes."
  }),
  port: Schema.Port.annotate({ description: "The port." }).pipe(Schema.withDecodingDefaultKey(Effect.succeed(25))),
  secure: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(true))),
  mode: Schema.optionalKey(Schema.Literals(["Direct", "Queue/All"])).annotateKey({ description: "How." }),
  level: Schema.optionalKey(Schema.Literals([1, 2])),
  timeout: Schema.optionalKey(Schema.DurationFromString),
  endpoint: Schema.optionalKey(Schema.URL),
  password: Schema.RedactedFromValue(Schema.String),
  recipients: Schema.Array(Schema.Struct({ address: Schema.NonEmptyString })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed([]))
  ),
  limits: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int)),
  tls: Schema.Struct({ path: Schema.String.annotateKey({ description: "The file." }) }),
  tree: Schema.optionalKey(Tree),
  either: Schema.optionalKey(Schema.Union([Schema.Int, Schema.Struct({ a: Schema.Int })]))
}) {}
class Queue extends Section.Service<Queue>()("mail:queue", { size: Schema.optionalKey(Schema.Int) }) {}

const schema: any = JsonSchema.make([Queue, Mail].map((section) => ({ section, owner: "mailer" })))

const require = createRequire(import.meta.resolve("@seriousme/openapi-schema-validator"))
const { default: Ajv } = require("ajv/dist/2020.js")

/** A judge of the schema: every keyword must be known, and the schema itself valid. */
const compile = (json: unknown) => new Ajv({ strict: true, strictTypes: false, strictTuples: false }).compile(json)

describe("JSON Schema", () => {
  it("is valid, of draft 2020-12, for the sections of the host", () => {
    const json = JsonSchema.make(hostSections)
    assert.strictEqual(json["$schema"], "https://json-schema.org/draft/2020-12/schema")
    assert.isTrue(compile(json)({ host: { urls: "http://+:80" }, logging: { minimumLevel: "debug" } }))
  })

  it("describes every key of the host", () => {
    for (const [path, { properties }] of Object.entries<any>(JsonSchema.make(hostSections)["properties"] as object)) {
      for (const [name, property] of Object.entries<any>(properties)) {
        assert.isString(property.description, `${path}:${name}`)
      }
    }
  })

  it("has descriptions, defaults as people write them, and marks secrets", () => {
    const { mail } = schema.properties
    const of = (name: string) => [mail.properties[name].description, mail.properties[name].default]
    assert.deepStrictEqual(of("server"), ["Where mail goes.", "localhost"])
    assert.deepStrictEqual(of("port"), ["The port.", 25])
    assert.deepStrictEqual(of("secure"), [undefined, true])
    assert.deepStrictEqual(of("recipients"), [undefined, []])
    assert.deepStrictEqual(of("mode"), ["How.", undefined])
    assert.strictEqual(mail.properties.tls.properties.path.description, "The file.")
    assert.isTrue(mail.properties.password.writeOnly)
    assert.deepStrictEqual(mail.properties.mode.anyOf[0].enum, ["Direct", "Queue/All"])
    assert.strictEqual(mail.description, "The section of plugin mailer.")
    assert.containsAllKeys(mail.properties.queue.properties, ["size"])
  })

  const accepts = compile(schema)
  for (const yaml of [
    "",
    "mail:",
    "mail: { server: 5, port: 25, secure: true, mode: Direct }",
    "mail: { server: ~, port: '25', secure: 'TRUE', mode: queue/all, level: 2 }",
    "mail: { timeout: 30 seconds, endpoint: http://x, password: 007 }",
    "mail: { recipients: [{ address: a }, { address: b }], limits: { a: 1, b: { c: '2' } } }",
    "mail: { tree: { name: a, children: [{ name: b, children: [] }] }, either: 5, queue: { size: 1 } }",
    "mail: { either: { a: '5' } }",
    "MAIL: { Server: x }",
    "mail:server: x",
    "other: 1"
  ]) {
    it(`takes ${yaml === "" ? "an empty file" : yaml}`, () => {
      assert.isTrue(accepts(parseYaml(yaml)), JSON.stringify(accepts.errors))
    })
  }

  for (const yaml of [
    "mail: 5",
    "mail: { server: [] }",
    "mail: { port: many }",
    "mail: { port: 70000 }",
    "mail: { secure: yes }",
    "mail: { mode: Directly }",
    "mail: { recipients: { address: a } }",
    "mail: { recipients: [{ address: '' }] }",
    "mail: { limits: { a: x } }",
    "mail: { tree: { children: [{ name: [] }] } }",
    "mail: { queue: { size: big } }"
  ]) {
    it(`refuses ${yaml}`, () => assert.isFalse(accepts(parseYaml(yaml))))
  }
})
