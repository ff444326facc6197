import { describe, expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as TestClock from "effect/testing/TestClock"
import type * as Tracer from "effect/Tracer"
import * as fs from "node:fs"
import * as path from "node:path"
import * as FileBackend from "../../src/SecretStore/FileBackend.ts"
import type { SecretInput } from "../../src/SecretStore/Secret.ts"
import { SecretBackend } from "../../src/SecretStore/SecretBackend.ts"
import * as SecretId from "../../src/SecretStore/SecretId.ts"
import * as SecretType from "../../src/SecretStore/SecretType.ts"
import * as TotpCodeGenerator from "../../src/SecretStore/TotpCodeGenerator.ts"
import { Credentials, CredentialStorage, samples, seed } from "./support/Credentials.ts"
import { isSecret, recordingEye, recordingTracer } from "./support/RecordingEye.ts"
import { filesBelow, platform, temporaryDirectory } from "./support/Files.ts"
import { refuse, say } from "./support/server/faults.ts"
import type { Fault } from "./support/server/StandIn.ts"
import { Server, storage as storageOnServer } from "./support/Server.ts"

const storageOver = (root: string) =>
  CredentialStorage.layer.pipe(Layer.provide(FileBackend.layer({ path: root })), Layer.provide(platform))

describe("SecretStorage's spans", () => {
  it.effect("each operation has one, with bucket, key and type, and the status of its outcome", () => {
    const { layer, spans } = recordingTracer()
    return Effect.gen(function* () {
      const root = yield* temporaryDirectory
      yield* Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* storage.create("ApiKeys", samples.Certificate)
        yield* storage.get(id)
        yield* storage.update(id, samples.Certificate)
        yield* Effect.flip(storage.update(id, samples.UsernamePassword))
        yield* storage.delete(id)
        yield* Effect.flip(storage.get(id))
        const attributes = { "secret.bucket": "ApiKeys", "secret.key": id.key, "secret.type": "Certificate" }
        expect(spans.map((span) => [span.name, Object.fromEntries(span.attributes), outcome(span)])).toEqual([
          ["SecretStorage.create", attributes, "Success"],
          ["SecretStorage.get", attributes, "Success"],
          ["SecretStorage.update", attributes, "Success"],
          ["SecretStorage.update", attributes, "Failure"],
          ["SecretStorage.delete", attributes, "Success"],
          ["SecretStorage.get", attributes, "Failure"]
        ])
      }).pipe(Effect.provide(storageOver(root)))
    }).pipe(Effect.provide(layer))
  })
})

const outcome = (span: Tracer.NativeSpan) => (span.status._tag === "Ended" ? span.status.exit._tag : span.status._tag)

describe("Secret values", () => {
  it.effect("show in no log, span, error, inspection or JSON, whatever happens", () => {
    const { layer, look, lookAtSpans, seen, spans, watch } = recordingEye()
    return Effect.gen(function* () {
      const root = yield* temporaryDirectory
      yield* Effect.gen(function* () {
        const storage = yield* CredentialStorage
        for (const type of SecretType.all) {
          look(samples[type])
          const id = yield* storage.create("ApiKeys", samples[type])
          const missing = yield* SecretId.generate(Credentials, "ApiKeys", type)
          const other = samples[type === "Certificate" ? "UsernamePassword" : "Certificate"]
          const invalid = { ...samples[type], username: 5, certificate: Redacted.make("canary") }
          yield* watch(storage.get(id))
          yield* watch(storage.update(id, samples[type]))
          yield* watch(storage.update(id, other))
          yield* watch(storage.update(missing, samples[type]))
          yield* watch(storage.create("ApiKeys", invalid as unknown as SecretInput))
          // A file whose end is missing, and one of another type.
          for (const file of filesBelow(root)) fs.truncateSync(path.join(root, file), 60)
          yield* watch(storage.get(id))
          for (const file of filesBelow(root)) fs.writeFileSync(path.join(root, file), '{"type":"canary"}')
          yield* watch(storage.get(id))
          yield* watch(storage.delete(id))
        }
      }).pipe(Effect.provide(storageOver(root)))
      lookAtSpans()
      expect(spans.length).toBe(4 * 9)
      expect(seen.length).toBeGreaterThan(300)
      expect(seen.filter((text) => text.includes("<redacted>")).length).toBeGreaterThan(20)
      expect(seen.filter(isSecret)).toEqual([])
    }).pipe(Effect.provide(layer))
  })

  it.effect("nor do the tokens of a secret server and what they are got for, whatever happens", () => {
    const { layer, look, lookAtSpans, seen, spans, watch } = recordingEye()
    const password = Redacted.make("canary-login")
    const auth = { method: "userpass", mount: "userpass", username: "ada", password } as const
    const json = "application/json"
    return Effect.gen(function* () {
      const server = yield* Server
      server.tokens.accounts.push({
        path: "auth/userpass/login/ada",
        accepts: (body) => body["password"] === "canary-login"
      })
      const storage = yield* CredentialStorage
      const { healthChecks } = yield* SecretBackend
      const codes = new Set<string>()
      for (const type of SecretType.all) {
        const id = yield* storage.create("ApiKeys", samples[type])
        for (const fault of [
          undefined,
          // What answers a body may quote it. Without one there is nothing to quote.
          (response, answer) => refuse(400, [response.req.method === "POST" ? "canary" : ""])(response, answer),
          refuse(403, ["permission denied"]),
          refuse(405, ["unsupported"]),
          refuse(501),
          say("canary", "text/html"),
          say(JSON.stringify({ data: { data: { type, password: "canary" }, metadata: { version: 1 } } }), json),
          say(JSON.stringify({ auth: { client_token: "canary", lease_duration: "canary" } }), json),
          say(JSON.stringify({ data: { code: { canary: "canary" } } }), json)
        ] as ReadonlyArray<Fault | undefined>) {
          server.fault = () => fault
          if (fault !== undefined) server.tokens.tokens.clear()
          // A login that was refused is not repeated before.
          yield* TestClock.adjust("10 seconds")
          codes.add(yield* TotpCodeGenerator.generate(seed, 30))
          yield* watch(storage.get(id))
          yield* watch(storage.update(id, samples[type]))
          yield* watch(storage.create("ApiKeys", samples[type]))
          yield* watch(storage.delete(id))
          yield* watch(healthChecks[0]!.check)
        }
        server.fault = () => undefined
        yield* TestClock.adjust("10 seconds")
      }
      lookAtSpans()
      look(server.served.length)
      const requests = spans.filter(({ name }) => name === "SecretServer.request")
      expect(requests.length).toBe(server.served.length)
      expect(Object.fromEntries(requests.at(-1)!.attributes)).toMatchObject({
        "http.request.method": "GET",
        "http.response.status_code": 200,
        "server.address": "127.0.0.1",
        "server.port": server.port
      })
      expect(seen.filter((text) => text.includes("<redacted>")).length).toBeGreaterThan(20)
      expect(seen.filter(isSecret)).toEqual([])
      const numbers = new Set(seen.flatMap((text) => text.match(/\b\d{6}\b/g) ?? []))
      expect(codes.intersection(numbers)).toEqual(new Set())
    }).pipe(Effect.provide(storageOnServer(() => ({ auth, timeout: Duration.days(1) }))), Effect.provide(layer))
  })
})
