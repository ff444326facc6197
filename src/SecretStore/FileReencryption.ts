/**
 * Encrypts the files of a directory again: with a new key in the place of a former one, or for the first time.
 *
 * Each file is replaced as an update replaces it, under the lock of its secret, so services may go on using the directory, and
 * a run that is stopped half-way leaves whole files: the next one passes over those that are done.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import * as Result from "effect/Result"
import * as DurableFiles from "./DurableFiles.ts"
import * as FileEncryption from "./FileEncryption.ts"
import * as ProcessLock from "./ProcessLock.ts"

/** What became of a file. */
export interface Outcome {
  /** The file's path. */
  readonly file: string
  /**
   * `encrypted` with the key, or to be so in a dry run; `current` where it already was; `gone` where it was deleted since
   * the directory was listed; `failed` with a reason where it could not be read.
   */
  readonly result: "encrypted" | "current" | "gone" | "failed"
  readonly reason?: string
}

/** Encrypts what is not encrypted with the key yet. `onOutcome` hears of each file, of so many in all. */
export const reencrypt = Effect.fn("FileReencryption.reencrypt")(function* (options: {
  readonly path: string
  readonly encryption: FileEncryption.Options
  /** Whether nothing is written. */
  readonly dryRun: boolean
  readonly onOutcome: (outcome: Outcome, total: number) => Effect.Effect<void>
}): Effect.fn.Return<ReadonlyArray<Outcome>, PlatformError, FileSystem.FileSystem | Path.Path> {
  const path = yield* Path.Path
  const root = path.resolve(options.path)
  const encryption = FileEncryption.make(options.encryption)
  const secrets = yield* secretsBelow(root)

  return yield* Effect.scoped(
    Effect.gen(function* () {
      const files = yield* DurableFiles.make(root)
      const lock = yield* ProcessLock.make(root)

      const encrypt = Effect.fnUntraced(function* (segments: DurableFiles.Segments) {
        const file = path.join(root, ...segments)
        const content = yield* files.read(segments)
        if (Option.isNone(content)) return { file, result: "gone" } satisfies Outcome
        const place = FileEncryption.placeOf(segments)
        const text = encryption.open(place, content.value)
        if (Result.isFailure(text)) return { file, result: "failed", reason: text.failure.reason } satisfies Outcome
        if (encryption.isCurrent(content.value)) return { file, result: "current" } satisfies Outcome
        if (!options.dryRun) yield* files.replace(segments, encryption.seal(place, text.success))
        return { file, result: "encrypted" } satisfies Outcome
      })

      return yield* Effect.forEach(
        secrets,
        (segments) =>
          (options.dryRun ? encrypt(segments) : lock(FileEncryption.placeOf(segments), encrypt(segments))).pipe(
            Effect.catch((error) =>
              Effect.succeed<Outcome>({
                file: path.join(root, ...segments),
                result: "failed",
                reason: DurableFiles.reasonOf(error)
              })
            ),
            Effect.tap((outcome) => options.onOutcome(outcome, secrets.length))
          ),
        { concurrency: 8 }
      )
    })
  )
})

/** The files that are secrets of any bucket set, in order. */
const secretsBelow = Effect.fnUntraced(function* (root: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const entries = yield* fs.readDirectory(root, { recursive: true })
  return entries
    .map((entry) => entry.split(path.sep))
    .filter((segments) => segments.length === 4 && /^[0-9a-f]{32}\.json$/.test(segments[3]!))
    .toSorted()
})
