import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Certificate from "../../../src/Host/Tls/Certificate.ts"
import * as Tls from "../../../src/Host/Tls/Tls.ts"
import * as TlsConfig from "../../../src/Host/Tls/TlsConfig.ts"
import * as Files from "./files.ts"
import * as SelfSigned from "./selfSigned.ts"

const one = SelfSigned.make("one")
const two = SelfSigned.make("two")

/** Runs an effect, and gives what it logged besides. */
const logged = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    lines.push(`${logLevel} ${String(message)}`)
  })
  return Effect.map(Effect.provide(effect, Logger.layer([logger])), (value) => [value, lines] as const)
}

describe("a certificate", () => {
  it.effect("is read with its key", () =>
    Effect.gen(function* () {
      const { validTo } = yield* Certificate.load(Files.write(yield* Files.directory, one))
      assert.strictEqual(validTo.toISOString(), "2049-01-01T00:00:00.000Z")
    })
  )

  it.effect("may stand in one file with its key", () =>
    Effect.gen(function* () {
      const path = join(yield* Files.directory, "both.pem")
      writeFileSync(path, one.certificate + one.key)
      yield* Certificate.load({ certificatePath: path, keyPath: path, passphrase: undefined })
    })
  )

  it.effect("may have an encrypted key", () =>
    Effect.gen(function* () {
      const files = Files.write(yield* Files.directory, {
        certificate: one.certificate,
        key: one.encryptedKey("a secret")
      })
      yield* Certificate.load({ ...files, passphrase: Redacted.make("a secret") })
    })
  )

  const encrypted = { certificate: one.certificate, key: one.encryptedKey("a secret") }

  it.effect.each<
    [string, Pick<SelfSigned.SelfSigned, "certificate" | "key">, Partial<Certificate.CertificateFiles>, string]
  >([
    ["is missing", one, { certificatePath: "/nowhere/tls.crt" }, "/nowhere/tls.crt does not exist"],
    ["has no key", one, { keyPath: "/nowhere/tls.key" }, "/nowhere/tls.key does not exist"],
    ["is a directory", one, { certificatePath: "/" }, "/ is a directory"],
    ["is none", { ...one, certificate: "none" }, {}, "tls.crt holds no certificate in PEM"],
    ["is empty", { ...one, certificate: "" }, {}, "tls.crt holds no certificate in PEM"],
    [
      "is broken",
      { ...one, certificate: one.certificate.replace(/^MI/m, "AA") },
      {},
      "tls.crt holds no certificate in PEM"
    ],
    ["has no real key", { ...one, key: "none" }, {}, "tls.key holds no private key in PEM"],
    ["has a certificate as key", { ...one, key: one.certificate }, {}, "tls.key holds no private key in PEM"],
    ["has the key of another", { ...one, key: two.key }, {}, "tls.key holds another key than that of the certificate"],
    ["lacks the passphrase", encrypted, {}, "tls.key is encrypted: set its passphrase"],
    [
      "has the wrong passphrase",
      encrypted,
      { passphrase: Redacted.make("another secret") },
      "tls.key is encrypted with another passphrase"
    ]
  ])("that %s is told", ([_title, content, overrides, expected]) =>
    Effect.gen(function* () {
      const files = { ...Files.write(yield* Files.directory, content), ...overrides }
      const error = yield* Effect.flip(Certificate.load(files))
      assert.include(error.message, expected)
      assert.notInclude(JSON.stringify(error), "secret")
    })
  )
})

describe("the section host:tls", () => {
  const config = (input: object) => Effect.provide(TlsConfig.TlsConfig, TlsConfig.TlsConfig.layer(input as never))

  it.effect("has one certificate for all URLs, or one for each", () =>
    Effect.gen(function* () {
      const decoded = yield* config({
        certificatePath: "a.crt",
        keyPath: "a.key",
        certificates: [{ url: "HTTPS://+:8444", certificatePath: "b.pem", passphrase: "secret" }]
      })
      const files = Result.getOrThrow(TlsConfig.filesOf(decoded, ["https://+:8443", "https://+:8444"]))
      assert.deepStrictEqual(files.get("https://+:8443"), {
        key: "host:tls",
        certificatePath: "a.crt",
        keyPath: "a.key",
        passphrase: undefined
      })
      const { passphrase, ...other } = files.get("https://+:8444")!
      assert.deepStrictEqual(other, {
        key: "host:tls:certificates:0",
        certificatePath: "b.pem",
        keyPath: "b.pem"
      })
      assert.strictEqual(Redacted.value(passphrase!), "secret")
      assert.notInclude(JSON.stringify(decoded), "secret")
    })
  )

  it.effect("tells all problems at once", () =>
    Effect.gen(function* () {
      const path = yield* Files.directory
      const decoded = yield* config({ certificates: [{ url: "https://+:1", certificatePath: join(path, "none") }] })
      const unassigned = yield* Effect.flip(Tls.make(decoded, ["https://+:8443", "https://+:8444"]))
      assert.strictEqual(
        unassigned.message,
        [
          "Cannot serve https:",
          "  - https://+:8443 has no certificate: set host:tls:certificatePath and host:tls:keyPath",
          "  - https://+:8444 has no certificate: set host:tls:certificatePath and host:tls:keyPath",
          "  - host:tls:certificates has one for https://+:1, which is no https URL of host:urls"
        ].join("\n")
      )
      const both = yield* config({
        certificatePath: join(path, "missing"),
        certificates: [{ url: "https://+:1", certificatePath: join(path, "lost") }]
      })
      const { problems } = yield* Effect.flip(Tls.make(both, ["https://+:1", "https://+:2", "https://+:3"]))
      assert.deepStrictEqual(problems, [
        `${join(path, "lost")} does not exist`,
        `${join(path, "missing")} does not exist`
      ])
    })
  )

  it.effect("looks at the files once a second at most", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(config({ reloadInterval: "0 seconds" }))
      assert.include(error.message, "one second or more")
    })
  )

  it.effect("is not needed without https", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Tls.make(yield* config({}), [])).size, 0)
    })
  )

  it.effect("warns of a certificate that has expired", () =>
    Effect.gen(function* () {
      const files = Files.write(yield* Files.directory, SelfSigned.make("old", new Date("2021-01-01T00:00:00Z")))
      yield* TestClock.setTime(Date.parse("2026-01-01T00:00:00Z"))
      const [, lines] = yield* logged(
        Effect.flatMap(config({ certificatePath: files.certificatePath, keyPath: files.keyPath }), (decoded) =>
          Tls.make(decoded, ["https://+:1"])
        )
      )
      assert.deepStrictEqual(lines, [
        `Warn The certificate of ${files.certificatePath} expired at 2021-01-01T00:00:00.000Z`
      ])
    })
  )
})

describe("a renewal", () => {
  const serve = Effect.fnUntraced(function* () {
    const path = yield* Files.directory
    const files = Files.write(path, one)
    const served = new Tls.ServedCertificate(files, yield* Certificate.load(files))
    return { path, files, served, look: Tls.renewal(served), first: served.current }
  })

  it.effect("replaces the certificate, once", () =>
    Effect.gen(function* () {
      const { first, look, path, served } = yield* serve()
      const heard: Array<Certificate.Certificate> = []
      const stop = served.onRenewed((certificate) => heard.push(certificate))
      yield* look
      assert.strictEqual(served.current, first)
      Files.write(path, two)
      const [, lines] = yield* logged(Effect.andThen(look, look))
      assert.notStrictEqual(served.current.fingerprint, first.fingerprint)
      assert.deepStrictEqual(heard, [served.current])
      assert.lengthOf(lines, 1)
      assert.match(lines[0]!, /^Info Renewed the certificate of .*tls\.crt, valid until 2049/)
      stop()
      Files.write(path, one)
      yield* look
      assert.lengthOf(heard, 1)
    })
  )

  it.effect("waits silently for the second of two files", () =>
    Effect.gen(function* () {
      const { files, first, look, path, served } = yield* serve()
      writeFileSync(files.certificatePath, two.certificate)
      const [, between] = yield* logged(look)
      assert.deepStrictEqual(between, [])
      assert.strictEqual(served.current, first)
      Files.write(path, two)
      const [, after] = yield* logged(look)
      assert.match(after.join(), /^Info Renewed/)
    })
  )

  it.effect("that stays broken is logged once, and the certificate stays", () =>
    Effect.gen(function* () {
      const { files, first, look, path, served } = yield* serve()
      writeFileSync(files.keyPath, "broken")
      const [, lines] = yield* logged(Effect.repeat(look, { times: 4 }))
      assert.lengthOf(lines, 1)
      assert.match(lines[0]!, /^Error The certificate of .* was not renewed: .*tls\.key holds no private key/)
      assert.strictEqual(served.current, first)
      Files.write(path, one)
      yield* look
      writeFileSync(files.keyPath, "broken again")
      const [, again] = yield* logged(Effect.repeat(look, { times: 4 }))
      assert.lengthOf(again, 1)
    })
  )

  it.effect("comes with time, until the scope closes", () =>
    Effect.gen(function* () {
      const path = yield* Files.directory
      const { certificatePath, keyPath } = Files.write(path, one)
      const scope = yield* Scope.make()
      const config = yield* Effect.provide(
        TlsConfig.TlsConfig,
        TlsConfig.TlsConfig.layer({ certificatePath, keyPath, reloadInterval: "10 seconds" })
      )
      const served = yield* Scope.provide(Tls.make(config, ["https://+:1", "https://+:2"]), scope)
      assert.strictEqual(served.get("https://+:1"), served.get("https://+:2"))
      const renewed = yield* Deferred.make<string>()
      const before = served.get("https://+:1")!.current.fingerprint
      served
        .get("https://+:1")!
        .onRenewed(({ fingerprint }) => Deferred.doneUnsafe(renewed, Effect.succeed(fingerprint)))
      Files.write(path, two)
      yield* TestClock.adjust("9 seconds")
      assert.isFalse(yield* Deferred.isDone(renewed))
      yield* TestClock.adjust("1 second")
      assert.notStrictEqual(yield* Deferred.await(renewed), before)
      yield* Scope.close(scope, Exit.void)
    })
  )
})
