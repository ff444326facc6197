import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as FileBackend from "../../src/SecretStore/FileBackend.ts"
import { revealed } from "./SecretStorageTest.ts"
import { CredentialStorage } from "./support/Credentials.ts"
import { filesBelow, platform, temporaryDirectory } from "./support/Files.ts"
import { numbered } from "./support/numbered.ts"

/** The campaign is small by default; LAYERHOST_TEST_KILLS=10000 is its full size. */
const kills = Number(process.env["LAYERHOST_TEST_KILLS"] ?? 6)

/** Each writes a secret of its own, all at the same time. */
const writers = 64

describe("FileBackend", () => {
  it.live(
    `killed ${kills} times at random moments under ${writers} writers, it keeps every secret, old or new, and no stray file`,
    () =>
      Effect.gen(function* () {
        const root = yield* temporaryDirectory
        // Every start sweeps, as the start of a service does.
        const start = <A, E>(effect: Effect.Effect<A, E, CredentialStorage>) =>
          effect.pipe(
            Effect.provide(
              CredentialStorage.layer.pipe(Layer.provide(FileBackend.layer({ path: root })), Layer.provide(platform))
            ),
            Effect.provide(Logger.layer([]))
          )
        const ids = yield* start(
          CredentialStorage.use((storage) =>
            Effect.forEach(Array.from({ length: writers }), () => storage.create("ApiKeys", numbered(0)), {
              concurrency: 8
            })
          )
        )
        const files = ids
          .map(({ bucket, key, type }) => path.join("Credentials", bucket, type, `${key}.json`))
          .toSorted()

        const current = new Map(ids.map((_, index) => [index, 0]))
        let cut = 0
        let next = 1
        for (let kill = 0; kill < kills; kill++) {
          const begun = new Map<number, number>()
          const events = yield* runAndKill(
            root,
            next,
            ids.map(({ id }) => id),
            Math.ceil(Math.random() ** 2 * 100)
          )
          for (const { index, number, what } of events) {
            next = Math.max(next, number + 1)
            if (what === "begin") {
              begun.set(index, number)
            } else {
              begun.delete(index)
              current.set(index, number)
            }
          }
          cut += begun.size
          yield* start(
            CredentialStorage.use((storage) =>
              Effect.forEach(ids, (id, index) =>
                Effect.gen(function* () {
                  const secret = revealed(yield* storage.get(id))
                  const candidates = [current.get(index)!, begun.get(index) ?? current.get(index)!]
                  const found = candidates.find((number) => isSame(secret, revealed(numbered(number))))
                  if (found === undefined) expect.fail(`secret ${index} is neither of ${candidates.join(" and ")}`)
                  current.set(index, found)
                })
              )
            )
          )
          expect(filesBelow(root)).toEqual(files)
          expect(fs.readdirSync(path.join(root, ".locks")).filter((name) => name.length > 1)).toEqual([])
        }
        // Else no update was cut off, and the test has shown nothing.
        expect(cut).toBeGreaterThan(0)
      }),
    60_000 + kills * 1000
  )
})

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

interface Event {
  readonly what: string
  readonly index: number
  readonly number: number
}

/** Runs the updater, kills it once so many updates are done, and gives all that it said. */
const runAndKill = (root: string, first: number, ids: ReadonlyArray<string>, updates: number) =>
  Effect.callback<ReadonlyArray<Event>>((resume) => {
    const script = fileURLToPath(new URL("support/updater.ts", import.meta.url))
    const child = spawn(process.execPath, [script, root, String(first), ...ids], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    const events: Array<Event> = []
    let done = 0
    createInterface({ input: child.stdout }).on("line", (line) => {
      // Nothing else comes in this form; the start's warning is no part of the protocol.
      const [, what, index, number] = /^(begin|done) (\d+) (\d+)$/.exec(line) ?? []
      if (what === undefined) return
      events.push({ what, index: Number(index), number: Number(number) })
      if (what === "done" && ++done === updates) child.kill("SIGKILL")
    })
    child.on("error", (error) => resume(Effect.die(error)))
    child.on("close", (_, signal) =>
      resume(signal === "SIGKILL" ? Effect.succeed(events) : Effect.die(new Error("the updater ended by itself")))
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })
