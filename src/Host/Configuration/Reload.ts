/**
 * Reads the configuration again whenever its files change, and offers what has changed to the sections' owners.
 *
 * What is read is validated whole: a change with any mistake is told of in the log and otherwise ignored, so that a service
 * never runs on half a change.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import type * as Section from "../../Plugins/Section.ts"
import * as Configuration from "./Configuration.ts"
import type { ConfigurationError } from "./ConfigurationError.ts"
import { rank } from "./ConfigurationFiles.ts"
import type { ConfigurationTree } from "./ConfigurationTree.ts"
import { decode, type Decoded, type OwnedSection } from "./Decode.ts"
import * as DirectoryWatcher from "./DirectoryWatcher.ts"

/** The configuration that is in force, and where it comes from. */
export interface ReloadOptions {
  readonly sources: Configuration.Sources
  readonly sections: ReadonlyArray<OwnedSection>
  readonly tree: ConfigurationTree
  /** How long files must be left alone before they are read again: 200 milliseconds when absent. */
  readonly quiet?: Duration.Input
}

/** Gives the values of a section: those in force, then each change. Undefined for a section that is not read here. */
export type Changes = (section: Section.Any) => Stream.Stream<unknown> | undefined

/** Watches the files for as long as the scope lives. */
export const make = Effect.fnUntraced(function* (options: ReloadOptions) {
  const { quiet = "200 millis", sections, sources } = options
  const watcher = yield* DirectoryWatcher.make
  let inForce = yield* Effect.orDie(decode(options.tree, sections))
  let warned = textOf(inForce.warnings)
  let refused: string | undefined
  const values = new Map<string, SubscriptionRef.SubscriptionRef<unknown>>()
  for (const [key, value] of inForce.services.mapUnsafe) values.set(key, yield* SubscriptionRef.make(value))
  const asked = new Set<string>()

  const use = Effect.fnUntraced(function* (next: Decoded) {
    const changed = sections.filter(({ section: { key } }) => !isSame(inForce.inputs.get(key), next.inputs.get(key)))
    inForce = next
    for (const { section } of changed) {
      yield* SubscriptionRef.set(values.get(section.key)!, next.services.mapUnsafe.get(section.key))
    }
    if (refused !== undefined && changed.length === 0) yield* Effect.logInfo("The configuration is valid again")
    refused = undefined
    if (textOf(next.warnings) !== warned) {
      warned = textOf(next.warnings)
      yield* Effect.forEach(next.warnings, (warning) => Effect.logWarning(`Configuration: ${warning}`))
    }
    const paths = (isAsked: boolean) =>
      changed.filter(({ section }) => asked.has(section.key) === isAsked).map(({ section }) => section.path)
    const now = paths(true)
    const later = paths(false)
    if (now.length > 0) yield* Effect.logInfo(`The configuration has changed: ${now.join(", ")}`)
    if (later.length > 0) {
      yield* Effect.logWarning(`The configuration has changed, for the next start of the service: ${later.join(", ")}`)
    }
  })

  const refuse = Effect.fnUntraced(function* (error: ConfigurationError) {
    if (error.message === refused) return
    refused = error.message
    yield* Effect.logError(`The changed configuration is not used, since it is not valid. ${error.message}`)
  })

  const watch = (tree: ConfigurationTree) => Effect.flatMap(placesOf(tree), watcher.watch)

  let isUnwatched = yield* watch(options.tree)
  const reload = Effect.gen(function* () {
    if (!isUnwatched) yield* watcher.settled(quiet)
    const tree = yield* Configuration.load(sources)
    yield* Effect.matchEffect(decode(tree, sections), { onFailure: refuse, onSuccess: use })
    isUnwatched = yield* watch(tree)
  })
  yield* Effect.forkScoped(Effect.forever(reload))

  const changes: Changes = (section) => {
    const value = values.get(section.key)
    if (value === undefined) return undefined
    asked.add(section.key)
    return SubscriptionRef.changes(value)
  }
  return changes
})

const textOf = (warnings: Decoded["warnings"]): string => warnings.join("\n")

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The directories that were looked through, and those to which links lead from their files. */
const placesOf = Effect.fnUntraced(function* ({ directories, files }: ConfigurationTree) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const found = new Set(directories)
  const names = new Set<string>()
  for (const file of files) {
    const real = yield* Effect.orElseSucceed(fs.realPath(file), () => file)
    found.add(path.dirname(real))
    names.add(path.basename(real))
  }
  return {
    directories: [...found],
    isRelevant: (file, isContent) => {
      const name = path.basename(file)
      // Whatever comes or goes may be the link through which a volume of Kubernetes is reached.
      return !isContent || names.has(name) || rank(name) !== undefined
    }
  } satisfies DirectoryWatcher.Watched
})
