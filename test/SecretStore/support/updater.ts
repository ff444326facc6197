/**
 * A process that updates secrets until it is killed. It tells on its standard output, synchronously, what it begins and
 * what is done: `begin <index> <number>`, `done <index> <number>`.
 *
 * Arguments: the root, the first number, and the ids.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as fs from "node:fs"
import * as FileBackend from "../../../src/SecretStore/FileBackend.ts"
import * as SecretId from "../../../src/SecretStore/SecretId.ts"
import { Credentials, CredentialStorage } from "./Credentials.ts"
import { platform } from "./Files.ts"
import { numbered } from "./numbered.ts"

const [root, first, ...ids] = process.argv.slice(2) as [string, string, ...Array<string>]
let number = Number(first)

/** The pipe may be full for a moment. */
const say = (line: string): void => {
  for (;;) {
    try {
      fs.writeSync(1, `${line}\n`)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error
    }
  }
}

const updates = Effect.gen(function* () {
  const storage = yield* CredentialStorage
  const update = (id: SecretId.SecretId<"ApiKeys">, index: number) =>
    Effect.suspend(() => {
      const mine = number++
      say(`begin ${index} ${mine}`)
      return Effect.tap(storage.update(id, numbered(mine)), () => Effect.sync(() => say(`done ${index} ${mine}`)))
    })
  const parsed = ids.map((id) => Option.getOrThrow(SecretId.parse(Credentials, id)) as SecretId.SecretId<"ApiKeys">)
  yield* Effect.forEach(parsed, (id, index) => Effect.forever(update(id, index)), {
    concurrency: parsed.length,
    discard: true
  })
})

await Effect.runPromise(
  Effect.provide(
    updates,
    CredentialStorage.layer.pipe(Layer.provide(FileBackend.layer({ path: root })), Layer.provide(platform))
  )
)
