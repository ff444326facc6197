/** Changes of what a service is made of: its sources, its configuration files, its package.json. */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { type FSWatcher, watch } from "node:fs"
import { basename, join, sep } from "node:path"

/** Waits for a change, and until none has followed for a moment. Changes while nobody waits are not lost. */
export type Watcher = Effect.Effect<void>

/** How long a change waits for others, in milliseconds: a save may be several events. */
const quiet = 25

/** Watches a service's directory until the scope closes. Changes of `generated`, a file that tools write, are none. */
export const make = Effect.fnUntraced(function* (directory: string, generated: string) {
  const changes = yield* Queue.sliding<void>(1)
  let timer: NodeJS.Timeout | undefined
  const note = (file: string) => {
    if (file === generated || isTemporary(file)) return
    clearTimeout(timer)
    timer = setTimeout(() => Queue.offerUnsafe(changes, undefined), quiet)
  }
  const start = (place: string, recursive: boolean, isMeant: (name: string) => boolean) =>
    Effect.acquireRelease(
      Effect.sync((): FSWatcher => {
        const watcher = watch(place, { recursive }, (_, name) => {
          if (name !== null && isMeant(name)) note(join(place, name))
        })
        // A directory that goes away is told of by what then fails to start.
        watcher.on("error", () => {})
        return watcher
      }),
      (watcher) => Effect.sync(() => watcher.close())
    )
  yield* start(join(directory, "src"), true, () => true)
  yield* start(directory, false, (name) => /^(appsettings.*\.(json|ya?ml)|package\.json|tsconfig\.json)$/i.test(name))
  yield* Effect.addFinalizer(() => Effect.sync(() => clearTimeout(timer)))
  return Queue.take(changes) as Watcher
})

/** What editors and the generator write for a moment: hidden files, backups, and everything below hidden directories. */
const isTemporary = (file: string): boolean =>
  /(~|\.swp|\.tmp)$/.test(file) || basename(file) === "4913" || file.split(sep).some((part) => /^\.[^.]/.test(part))
