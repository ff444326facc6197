/**
 * Watches directories: one watcher for each, whatever the number of its files.
 *
 * A directory is watched rather than a file, since files are replaced: an editor renames a new one over the old, and a
 * volume of Kubernetes swaps the link `..data`, through which all of its files are reached.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"

/** What to watch. */
export interface Watched {
  /** A directory that is not there is waited for, by watching the nearest one above it. */
  readonly directories: ReadonlyArray<string>
  /** Whether a change matters: of a file's content, or else that there is something of this path now, or no more. */
  readonly isRelevant: (path: string, isContent: boolean) => boolean
}

/** A set of watchers that lives as long as its scope. */
export interface DirectoryWatcher {
  /**
   * Watches these directories and no others. True where a watcher is new, and what happened before it was there may have
   * been missed.
   */
  readonly watch: (watched: Watched) => Effect.Effect<boolean>
  /** Waits for a change, and until none has followed for the given time. */
  readonly settled: (quiet: Duration.Input) => Effect.Effect<void>
}

/** However often something changes, it is looked at after this many times the quiet time. */
const maxPostponed = 25

/** What to do where the system has no watch left, on Linux. */
const hint = (cause: Cause.Cause<unknown>): string =>
  /\b(?:ENOSPC|EMFILE)\b/.test(Cause.pretty(cause))
    ? "; the limit of watches is reached: raise fs.inotify.max_user_watches and fs.inotify.max_user_instances"
    : ""

/** Makes watchers. A directory that cannot be watched is told of in the log, once. */
export const make = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const changes = yield* Queue.sliding<void>(1)
  const watchers = yield* FiberMap.make<string>()
  const refused = new Set<string>()
  let isRelevant: Watched["isRelevant"] = () => true

  /** The directory, or the nearest one above it that is there, with what tells it from a later one of the same name. */
  const locate = (directory: string): Effect.Effect<{ readonly directory: string; readonly id: string }> =>
    Effect.matchEffect(fs.stat(directory), {
      onSuccess: ({ dev, ino }) =>
        Effect.succeed({ directory, id: `${directory} ${dev} ${Option.getOrElse(ino, () => 0n)}` }),
      onFailure: () => {
        const parent = path.dirname(directory)
        return parent === directory ? Effect.succeed({ directory, id: directory }) : locate(parent)
      }
    })

  const start = Effect.fnUntraced(function* (id: string, directory: string) {
    const isReady = yield* Deferred.make<void>()
    const events = fs.watch(directory, { onReady: () => Deferred.doneUnsafe(isReady, Effect.void) })
    const run = Stream.runForEach(events, (event) =>
      isRelevant(path.join(directory, path.basename(event.path)), event._tag === "Update")
        ? Queue.offer(changes, undefined)
        : Effect.void
    ).pipe(
      // A watcher that ends by itself would end again.
      Effect.andThen(Effect.fail(new Error("The watcher has ended"))),
      Effect.catchCause((cause) => {
        if (refused.has(directory)) return Effect.void
        refused.add(directory)
        return Effect.logWarning(
          `Changes in ${directory} go unnoticed, since it cannot be watched${hint(cause)}`,
          cause
        )
      }),
      Effect.ensuring(Deferred.succeed(isReady, undefined))
    )
    yield* FiberMap.run(watchers, id, run)
    yield* Deferred.await(isReady)
  })

  return {
    watch: Effect.fnUntraced(function* (watched) {
      isRelevant = watched.isRelevant
      const wanted = new Map<string, string>()
      for (const each of watched.directories) {
        const { directory, id } = yield* locate(each)
        wanted.set(id, directory)
      }
      for (const [id] of watchers) if (!wanted.has(id)) yield* FiberMap.remove(watchers, id)
      let isNew = false
      for (const [id, directory] of wanted) {
        if (refused.has(directory) || (yield* FiberMap.has(watchers, id))) continue
        yield* start(id, directory)
        isNew = true
      }
      return isNew
    }),
    settled: Effect.fnUntraced(function* (quiet) {
      yield* Queue.take(changes)
      for (let postponed = 0; postponed < maxPostponed; postponed++) {
        yield* Effect.sleep(quiet)
        if ((yield* Queue.clear(changes)).length === 0) return
      }
    })
  } satisfies DirectoryWatcher as DirectoryWatcher
})
