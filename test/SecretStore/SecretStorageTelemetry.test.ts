import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as Tracer from "effect/Tracer"
import * as fs from "node:fs"
import * as path from "node:path"
import { inspect } from "node:util"
import * as FileBackend from "../../src/SecretStore/FileBackend.ts"
import type { SecretInput } from "../../src/SecretStore/Secret.ts"
import * as SecretId from "../../src/SecretStore/SecretId.ts"
import * as SecretType from "../../src/SecretStore/SecretType.ts"
import { Credentials, CredentialStorage, samples, seed } from "./support/Credentials.ts"
import { filesBelow, platform, temporaryDirectory } from "./support/Files.ts"

/** A tracer that keeps its spans. */
const recordingTracer = () => {
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  return { spans, layer: Layer.succeed(Tracer.Tracer, tracer) }
}

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
    const { layer, spans } = recordingTracer()
    const seen: Array<string> = []
    const look = (value: unknown) => {
      seen.push(
        String(value),
        inspect(value, { depth: 20, showHidden: true }),
        JSON.stringify(value, textOfBigInt) ?? ""
      )
    }
    const loggers = [Logger.formatJson, Logger.formatLogFmt, Logger.formatSimple].map((format) =>
      Logger.map(format, (line) => void seen.push(line))
    )
    return Effect.gen(function* () {
      const root = yield* temporaryDirectory
      yield* Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const watch = <A, E>(effect: Effect.Effect<A, E>) =>
          Effect.gen(function* () {
            const exit = yield* Effect.exit(effect)
            look(exit)
            if (Exit.isSuccess(exit)) yield* Effect.logInfo("read", exit.value)
            if (Exit.isFailure(exit)) {
              seen.push(Cause.pretty(exit.cause))
              yield* Effect.logError("failed", exit.cause)
            }
          })
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
      for (const span of spans) look([span.name, span.attributes, span.events, span.status])
      expect(spans.length).toBe(4 * 9)
      expect(seen.length).toBeGreaterThan(300)
      expect(seen.filter((text) => text.includes("<redacted>")).length).toBeGreaterThan(20)
      // 755224 is the seed's code at the start of the test clock.
      expect(seen.filter((text) => /canary|MIIB|\b755224\b/.test(text) || text.includes(seed))).toEqual([])
    }).pipe(Effect.provide(layer), Effect.provide(Logger.layer(loggers)))
  })
})

const textOfBigInt = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value)
