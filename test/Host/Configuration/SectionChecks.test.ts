import { assert, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { decode, type OwnedSection } from "../../../src/Host/Configuration/Decode.ts"
import { hostSections } from "../../../src/Host/HostConfiguration.ts"
import * as Section from "../../../src/Plugins/Section.ts"
import { SecretStoreConfig } from "../../../src/SecretStore/SecretStoreConfig.ts"
import * as SelfSigned from "../Tls/selfSigned.ts"
import { type Files, layer, loadFiles, makeDirectory } from "./support.ts"

class Account extends Section.Service<Account>()("account", {
  name: Schema.optionalKey(Schema.String),
  size: Schema.optionalKey(Schema.Int)
}) {}

class Mail extends Section.Service<Mail>()("mail", {
  user: Schema.optionalKey(Schema.String),
  password: Schema.optionalKey(Schema.RedactedFromValue(Schema.String))
}) {
  static override readonly check: Section.Check<Mail["Service"]> = Effect.fnUntraced(function* ({ password, user }) {
    const account = yield* Effect.serviceOption(Account)
    return [
      ...(user !== undefined && password === undefined
        ? [{ key: "mail:password", message: "Expected a value, since mail:user is set" }]
        : []),
      ...(Option.isSome(account) && account.value.name === user
        ? [{ key: "account:name", message: `is that of mail, ${user}, with canary` }]
        : [])
    ]
  })
}

const sections: ReadonlyArray<OwnedSection> = [
  { section: Account, owner: "accounts" },
  { section: Mail, owner: "mailer" }
]

/** The problems of files and variables, each in one line. */
const problemsOf = Effect.fnUntraced(function* (
  owned: ReadonlyArray<OwnedSection>,
  files: Files,
  environment: Readonly<Record<string, string>> = {}
) {
  const error = yield* Effect.flip(decode(yield* loadFiles(files, { environment }), owned))
  return error.problems.map(
    ({ key, message, owner, source }) => `${key} | ${message} | ${source?.replace(/^.*\//, "")} | ${owner}`
  )
})

withLayer(layer)((test) => {
  test.effect("what fields must be together is told with what is wrong with others, by key, source and owner", () =>
    Effect.gen(function* () {
      const problems = yield* problemsOf(
        sections,
        { "appsettings.yaml": "account: { name: ada }\nmail: { user: ada }\n" },
        { HOST_PASSWORD: "x" }
      )
      assert.deepStrictEqual(problems, [
        "mail:password | expected a value, since mail:user is set | appsettings.yaml:2:1 | mailer",
        "account:name | is that of mail, ada, with canary | appsettings.yaml:1:18 | accounts"
      ])
    })
  )

  test.effect("a check sees no section that is not valid, and its words give away no secret", () =>
    Effect.gen(function* () {
      const other = yield* problemsOf(sections, {
        "appsettings.yaml": "account: { size: x, name: a }\nmail: { user: a }"
      })
      assert.deepStrictEqual(
        other.map((problem) => problem.split(" | ")[0]),
        ["account:size", "mail:password"]
      )
      const secret = yield* problemsOf(sections, {
        "appsettings.yaml": "account: { name: ada }\nmail: { user: ada, password: p }",
        "appsettings.secrets.yaml": "account: { name: ada }"
      })
      assert.deepStrictEqual(secret, [
        "account:name | the value is not valid | appsettings.secrets.yaml:1:18 | accounts"
      ])
    })
  )

  test.effect("a fault may be that of a whole section, in any case, or of a key that no section has", () =>
    Effect.gen(function* () {
      class Odd extends Section.Service<Odd>()("odd", { a: Schema.optionalKey(Schema.String) }) {
        static override readonly check: Section.Check<Odd["Service"]> = () =>
          Effect.succeed([
            { key: "ODD", message: "is odd" },
            { key: "nowhere:x", message: "is nowhere" }
          ])
      }
      const problems = yield* problemsOf([{ section: Odd, owner: "odds" }], { "appsettings.yaml": "odd: { a: b }" })
      assert.deepStrictEqual(problems, [
        "odd | is odd | appsettings.yaml:1:1 | odds",
        "nowhere:x | is nowhere | undefined | null"
      ])
    })
  )

  test.effect("what nothing sets is not asked for while a source cannot be read", () =>
    Effect.gen(function* () {
      const problems = yield* problemsOf(
        [{ section: SecretStoreConfig, owner: "store" }],
        { "appsettings.yaml": "{", "appsettings.json": {} },
        { SECRETSTORE_AUTHMETHOD: "token" }
      )
      assert.strictEqual(problems.length, 1)
      assert.match(problems[0]!, /^null \| .* \| appsettings\.yaml:/)
    })
  )

  test.effect("the secret store tells what its backend needs", () =>
    Effect.gen(function* () {
      const owned = [{ section: SecretStoreConfig, owner: "store" }]
      const [url, token, ...others] = yield* problemsOf(owned, {})
      assert.match(url!, /^secretstore:url \| expected the URL of the secret server .* \| undefined \| store$/)
      assert.strictEqual(
        token,
        "secretstore:token | expected a value, since secretstore:authMethod is token | undefined | store"
      )
      assert.deepStrictEqual(others, [])
      assert.deepStrictEqual(
        yield* problemsOf(
          owned,
          {},
          {
            SECRETSTORE_URL: "https://vault",
            SECRETSTORE_AUTHMETHOD: "userpass",
            SECRETSTORE_USERNAME: "ada"
          }
        ),
        ["secretstore:password | expected a value, since secretstore:authMethod is userpass | undefined | store"]
      )
      const local = yield* loadFiles({ "appsettings.yaml": "secretstore: { useLocalFileSystem: true }" })
      yield* decode(local, owned)
    })
  )

  test.effect("an https URL needs a certificate that can be served", () =>
    Effect.gen(function* () {
      const owner = "layerhost/host"
      const one = SelfSigned.make("one")
      const two = SelfSigned.make("two")
      const directory = yield* makeDirectory({ "one.crt": one.certificate, "one.key": one.key, "two.key": two.key })
      const at = (name: string) => `${directory}/${name}`

      const HOST_URLS = "https://+:8443,http://+:8080"
      assert.deepStrictEqual(yield* problemsOf(hostSections, {}, { HOST_URLS }), [
        "host:urls | https://+:8443 has no certificate: set host:tls:certificatePath and host:tls:keyPath" +
          ` | environment variable HOST_URLS | ${owner}`
      ])
      const missing = { HOST_URLS, HOST_TLS_CERTIFICATEPATH: at("gone.crt"), HOST_TLS_KEYPATH: at("one.key") }
      assert.deepStrictEqual(yield* problemsOf(hostSections, {}, missing), [
        `host:tls:certificatePath | ${at("gone.crt")} does not exist | environment variable HOST_TLS_CERTIFICATEPATH | ${owner}`
      ])
      const mismatched = {
        host: {
          urls: HOST_URLS,
          tls: { certificates: [{ url: "https://+:8443", certificatePath: at("one.crt"), keyPath: at("two.key") }] }
        }
      }
      const [mismatch] = yield* problemsOf(hostSections, { "appsettings.json": mismatched })
      assert.match(mismatch!, /^host:tls:certificates:0:keyPath \| .*two\.key holds another key than that of/)
      const stray = { HOST_TLS_CERTIFICATES_0_URL: "https://x", HOST_TLS_CERTIFICATES_0_CERTIFICATEPATH: at("one.crt") }
      const [unused] = yield* problemsOf(hostSections, {}, stray)
      assert.match(unused!, /^host:tls:certificates:0:url \| .*which is no https URL of host:urls \| .*_0_URL/)

      yield* decode(
        yield* loadFiles({}, { environment: { ...missing, HOST_TLS_CERTIFICATEPATH: at("one.crt") } }),
        hostSections
      )
    })
  )

  test.effect("the files of telemetry are looked at where there is a target", () =>
    Effect.gen(function* () {
      const environment = { TELEMETRY_TLS_KEYPATH: "/nowhere/key.pem", TELEMETRY_ENDPOINT: "https://collector" }
      assert.deepStrictEqual(yield* problemsOf(hostSections, {}, environment), [
        "telemetry:tls:keyPath | the file /nowhere/key.pem cannot be read: ENOENT" +
          " | environment variable TELEMETRY_TLS_KEYPATH | layerhost/host"
      ])
      yield* decode(yield* loadFiles({}, { environment: { ...environment, TELEMETRY_ENDPOINT: "" } }), hostSections)
    })
  )
})
