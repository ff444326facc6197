/** What `layerhost generate` does. Loaded only when it is asked for. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { basename } from "node:path"
import * as DirectoryWatcher from "../../Host/Configuration/DirectoryWatcher.ts"
import * as PluginList from "./PluginList.ts"
import { Sources } from "./Sources.ts"

/** Writes the list of a service, and says whether it has changed. */
export const write = Effect.fnUntraced(function* (directory: string) {
  const list = yield* PluginList.make(directory)
  const changed = yield* PluginList.write(list)
  yield* Console.log(`${PluginList.summary(list)}, ${changed ? "written" : "unchanged"}`)
})

/** Fails unless the list is the one that would be written. */
export const check = Effect.fnUntraced(function* (directory: string) {
  const list = yield* PluginList.make(directory)
  yield* PluginList.check(list)
  yield* Console.log(`${PluginList.summary(list)}, fresh`)
})

/** How long nothing may change before the sources are read: an editor or git changes several files at a time. */
const quiet = "50 millis"

/** Writes the list whenever something has changed that it is made from. What is wrong is told, and mended or not, it goes on. */
export const watch = Effect.fnUntraced(
  function* (directory: string) {
    const sources = new Sources()
    const watcher = yield* DirectoryWatcher.make
    let told = ""
    const once = Effect.gen(function* () {
      const list = yield* PluginList.make(directory, sources)
      const changed = yield* PluginList.write(list)
      const line = PluginList.summary(list)
      if (changed || told !== line) yield* Console.log(`${line}, ${changed ? "written" : "unchanged"}`)
      told = line
    }).pipe(
      Effect.catch((error) => {
        const isNew = told !== error.message
        told = error.message
        return isNew ? Console.error(error.message) : Effect.void
      })
    )
    for (;;) {
      yield* once
      const watched = yield* PluginList.watched(directory, sources)
      // Something may have changed between the reading and the watching.
      if (yield* watcher.watch({ directories: watched, isRelevant })) continue
      yield* watcher.settled(quiet)
    }
  },
  (effect) => Effect.scoped(effect)
)

/** What comes or goes may be a directory of sources. The list itself is no news. */
const isRelevant = (path: string, isContent: boolean): boolean =>
  !isContent || (/\.([mc]?[jt]s|json)$/.test(path) && !/\.generated\.m?ts$/.test(basename(path)))
