/**
 * Locks on a directory that hold in this process and among all processes that use the directory.
 *
 * A lock is the operating system's own, on a file below `.locks`, so that it ends with its process, however that ends, and
 * never has to be judged stale. Node takes such locks only through SQLite, which writes nothing into the files.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { createHash } from "node:crypto"
import { DatabaseSync } from "node:sqlite"
import { setTimeout } from "node:timers/promises"
import * as KeyedLock from "./KeyedLock.ts"

/** Runs an effect while no other with the same key runs, here or in another process. */
export type ProcessLock = <A, E, R>(
  key: string,
  effect: Effect.Effect<A, E, R>
) => Effect.Effect<A, E | PlatformError.PlatformError, R>

/** So many files stand for all keys: few, since they stay, yet enough to keep every thread for files busy. */
const stripes = 16

/** How long another process may hold a lock, in milliseconds. A write takes a few. */
const patience = 10_000

/** The journal of a transaction would be a file, though there is nothing to write into it. */
const exclusive = "PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE"

/** Locks on an existing directory, which is given as an absolute path. */
export const make = Effect.fnUntraced(function* (
  root: string
): Effect.fn.Return<ProcessLock, never, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = path.join(root, ".locks")
  const inProcess = yield* KeyedLock.make

  const makeDirectory = fs
    .makeDirectory(directory, { mode: 0o700 })
    .pipe(Effect.catchReason("PlatformError", "AlreadyExists", () => Effect.void))

  const open = (file: string) =>
    Effect.try({ try: () => new DatabaseSync(file, { timeout: 0 }), catch: failure("open", file) })

  const lock = Effect.fnUntraced(function* (database: DatabaseSync, file: string) {
    const attempt = Effect.try({ try: () => database.exec(exclusive), catch: failure("lock", file) })
    for (let waited = 0; ;) {
      const exit = yield* Effect.result(attempt)
      if (Result.isSuccess(exit)) return
      if (exit.failure.reason._tag !== "Busy" || waited > patience) return yield* exit.failure
      const pause = 1 + Math.random() * 10
      waited += pause
      // Other processes know nothing of this one's clock.
      yield* Effect.promise((signal) => setTimeout(pause, undefined, { signal }))
    }
  })

  return (key, effect) => {
    const stripe = stripeOf(key)
    const file = path.join(directory, stripe)
    return inProcess(
      stripe,
      Effect.acquireUseRelease(
        Effect.catchReason(open(file), "PlatformError", "NotFound", () => Effect.andThen(makeDirectory, open(file))),
        (database) => Effect.andThen(lock(database, file), effect),
        (database) => Effect.sync(() => database.close())
      )
    )
  }
})

/** The file that stands for a key, the same in every process. */
export const stripeOf = (key: string): string => (createHash("sha256").update(key).digest()[0]! % stripes).toString(16)

const failure = (method: string, file: string) => (cause: unknown) => {
  const code = cause instanceof Error && "errcode" in cause ? cause.errcode : undefined
  return PlatformError.systemError({
    _tag: code === 5 ? "Busy" : code === 14 ? "NotFound" : "Unknown",
    module: "ProcessLock",
    method,
    description: code === 5 ? "another process holds the lock" : messageOf(cause),
    pathOrDescriptor: file,
    cause
  })
}

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause))
