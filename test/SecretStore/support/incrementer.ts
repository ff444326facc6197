/**
 * A process that counts secrets up, so many times each, and reads before each write; another does the same at the same time.
 *
 * Arguments: the root, how often, and the ids.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as FileBackend from "../../../src/SecretStore/FileBackend.ts"
import * as SecretId from "../../../src/SecretStore/SecretId.ts"
import { Credentials, CredentialStorage, login } from "./Credentials.ts"
import { platform } from "./Files.ts"

const [root, times, ...ids] = process.argv.slice(2) as [string, string, ...Array<string>]

const increments = Effect.gen(function* () {
  const storage = yield* CredentialStorage
  let conflicts = 0
  const increment = Effect.fnUntraced(function* (id: SecretId.SecretId<keyof typeof Credentials.numbers>) {
    const { version } = yield* storage.metadata(id)
    const secret = yield* storage.get(id)
    const number = secret.type === "UsernamePassword" ? Number(Redacted.value(secret.password)) : Number.NaN
    yield* storage.update(id, login(String(number + 1)), { expectedVersion: version })
  })
  const parsed = ids.map((id) => Option.getOrThrow(SecretId.parse(Credentials, id)))
  yield* Effect.forEach(
    Array.from({ length: Number(times) }, () => parsed).flat(),
    (id) =>
      increment(id).pipe(
        Effect.tapErrorTag("SecretVersionConflict", () => Effect.sync(() => void conflicts++)),
        Effect.retry({ while: (error) => error._tag === "SecretVersionConflict" })
      ),
    { concurrency: 4 }
  )
  process.stdout.write(`conflicts ${conflicts}\n`)
})

await Effect.runPromise(
  Effect.provide(
    increments,
    CredentialStorage.layer.pipe(
      Layer.provide(FileBackend.layer({ path: root })),
      Layer.provide(platform),
      Layer.provide(Logger.layer([]))
    )
  )
)
