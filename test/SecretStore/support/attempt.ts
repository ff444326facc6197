/**
 * A process that tries each operation on a root and tells how it ends, one line each: run as a user who may not do all.
 *
 * Arguments: the root, and the id of a secret that someone else put there.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as FileBackend from "../../../src/SecretStore/FileBackend.ts"
import { SecretBackend } from "../../../src/SecretStore/SecretBackend.ts"
import * as SecretId from "../../../src/SecretStore/SecretId.ts"
import { Credentials, CredentialStorage, login } from "./Credentials.ts"
import { platform } from "./Files.ts"

const [root, text] = process.argv.slice(2) as [string, string]

const attempts = Effect.gen(function* () {
  const storage = yield* CredentialStorage
  const id = Option.getOrThrow(SecretId.parse(Credentials, text))
  const [check] = (yield* SecretBackend).healthChecks
  for (const [name, attempt] of Object.entries({
    get: storage.get(id),
    create: storage.create("ApiKeys", login("2")),
    update: storage.update(id, login("2")),
    delete: storage.delete(id),
    health: Effect.map(check!.check, ({ status }) => status)
  })) {
    const exit = yield* Effect.exit(attempt as Effect.Effect<unknown, unknown>)
    const how = Exit.isSuccess(exit) ? (name === "health" ? exit.value : "done") : Cause.squash(exit.cause)
    process.stdout.write(`${name} ${how instanceof Error ? `${how.name}: ${how.message}` : String(how)}\n`)
  }
})

await Effect.runPromise(
  Effect.provide(
    attempts,
    CredentialStorage.layer.pipe(
      Layer.provideMerge(FileBackend.layer({ path: root })),
      Layer.provide(platform),
      Layer.provide(Logger.layer([]))
    )
  )
)
