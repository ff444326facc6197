/**
 * Small files below one root that are written whole or not at all, also when the process or the machine stops half-way.
 *
 * A write goes to a temporary sibling that is flushed to disk before it takes the file's name, and the directory is
 * flushed after it. What a stopped process leaves behind is a temporary sibling, which no read sees and the next start
 * removes. Writes are not interruptible: they are short, and a file must not be closed while it is still written to.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"
import * as NodeFiles from "./NodeFiles.ts"
import * as RandomHex from "./RandomHex.ts"

/** A file below the root: its directories, and its own name last. */
export type Segments = ReadonlyArray<string>

/** The operations on the files below a root. A root that is missing is a failure of each, never the absence of a file. */
export interface DurableFiles {
  /** Makes the root, if need be, with access for its owner only. */
  readonly makeRoot: Effect.Effect<void, PlatformError.PlatformError>
  /** Removes what stopped processes left in the directories that are so many levels below the root. */
  readonly sweep: (levels: number) => Effect.Effect<void, PlatformError.PlatformError>
  /** The content, or `None` where there is no such file. */
  readonly read: (file: Segments) => Effect.Effect<Option.Option<string>, PlatformError.PlatformError>
  readonly exists: (file: Segments) => Effect.Effect<boolean, PlatformError.PlatformError>
  /** When a file that is there was written. */
  readonly modified: (file: Segments) => Effect.Effect<Date, PlatformError.PlatformError>
  /** The names of the files in a directory below the root; none where there is no such directory. */
  readonly names: (directory: Segments) => Effect.Effect<ReadonlyArray<string>, PlatformError.PlatformError>
  /** Writes a new file and makes its directories; fails with `AlreadyExists` where there is one. */
  readonly create: (file: Segments, content: string) => Effect.Effect<void, PlatformError.PlatformError>
  /** Puts another content in the place of a file's. */
  readonly replace: (file: Segments, content: string) => Effect.Effect<void, PlatformError.PlatformError>
  /** Removes a file, if there is one. */
  readonly remove: (file: Segments) => Effect.Effect<void, PlatformError.PlatformError>
}

/** The files below a root directory, which is given as an absolute path. */
export const make = Effect.fnUntraced(function* (
  root: string
): Effect.fn.Return<DurableFiles, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const files = NodeFiles.make(yield* NodeFiles.NodeFs)

  const directoriesWithoutLinks = new Set<string>()

  /**
   * Callers validate names where they come from. That nothing outside the root is touched does not rest on them.
   *
   * The root may be a link. A directory below it that is one leads who knows where, and is refused.
   */
  const resolve = (file: Segments): Effect.Effect<string, PlatformError.PlatformError> => {
    const unsafe = file.find((segment) => !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(segment))
    if (unsafe !== undefined) return Effect.die(new Error(`${JSON.stringify(unsafe)} cannot be part of a path`))
    const directory = [root, ...file.slice(0, -1)].join(path.sep)
    const resolved = Effect.succeed(`${directory}${path.sep}${file.at(-1)!}`)
    return directoriesWithoutLinks.has(directory) ? resolved : Effect.andThen(refuseLinks(file.slice(0, -1)), resolved)
  }

  const refuseLinks = Effect.fnUntraced(function* (directories: Segments) {
    let directory = root
    for (const segment of directories) {
      directory = `${directory}${path.sep}${segment}`
      if (!(yield* refuseLink(directory))) return
      directoriesWithoutLinks.add(directory)
    }
  })

  /** Fails for a link, which is no file of the store's, and else says whether there is something. */
  const refuseLink = Effect.fnUntraced(function* (entry: string) {
    const found = yield* Effect.asSome(fs.lstat(entry)).pipe(
      Effect.catchReason("PlatformError", "NotFound", () => Effect.succeedNone)
    )
    if (Option.isSome(found) && found.value.type === "SymbolicLink") {
      return yield* PlatformError.systemError({
        _tag: "BadResource",
        module: "DurableFiles",
        method: "resolve",
        pathOrDescriptor: entry,
        description: NodeFiles.notFollowed
      })
    }
    return Option.isSome(found)
  })

  /** As {@link resolve}, also where the file itself is a link. */
  const resolveFile = (file: Segments) => Effect.tap(resolve(file), refuseLink)

  /** Nothing can be said about a file without the root. */
  const absent = <A>(value: A): Effect.Effect<A, PlatformError.PlatformError> => Effect.as(fs.stat(root), value)

  const durableDirectories = new Set<string>()

  const makeDirectories = Effect.fnUntraced(function* (target: string) {
    const directory = path.dirname(target)
    if (durableDirectories.has(directory)) return
    let parent = root
    for (const segment of path.relative(root, directory).split(path.sep)) {
      const child = path.join(parent, segment)
      yield* fs
        .makeDirectory(child, { mode: 0o700 })
        .pipe(Effect.catchReason("PlatformError", "AlreadyExists", () => Effect.void))
      // Even when it was there: whoever made it may not have come to this yet.
      yield* files.syncDirectory(parent)
      parent = child
    }
    durableDirectories.add(directory)
  })

  const temporaryFor = (target: string) => () => path.join(path.dirname(target), temporaryName(path.basename(target)))

  const sweep = (directory: string, levels: number): Effect.Effect<void, PlatformError.PlatformError> =>
    Effect.gen(function* () {
      for (const { name, type } of yield* fs.readDirectoryEntries(directory)) {
        const entry = path.join(directory, name)
        if (levels > 0 && type === "Directory") yield* sweep(entry, levels - 1)
        if (levels === 0 && type === "File" && isTemporaryName(name)) yield* files.remove(entry)
      }
    })

  return {
    makeRoot: Effect.andThen(
      fs.makeDirectory(root, { recursive: true, mode: 0o700 }),
      // The parent may be none of ours to read, and then it was there already.
      Effect.ignore(files.syncDirectory(path.dirname(root)))
    ),

    sweep: (levels) => sweep(root, levels),

    read: (file) =>
      Effect.flatMap(NodeFiles.refusesLinks ? resolve(file) : resolveFile(file), (target) =>
        files.read(target, absent(Option.none()))
      ),

    exists: Effect.fnUntraced(function* (file) {
      return (yield* fs.exists(yield* resolveFile(file))) || (yield* absent(false))
    }),

    modified: Effect.fnUntraced(function* (file) {
      const { mtime } = yield* fs.stat(yield* resolveFile(file))
      return Option.getOrElse(mtime, () => new Date(0))
    }),

    names: Effect.fnUntraced(function* (directory) {
      const names = yield* fs
        .readDirectory(yield* resolveFile(directory))
        .pipe(Effect.catchReason("PlatformError", "NotFound", () => absent<Array<string>>([])))
      return names.filter((name) => !isTemporaryName(name))
    }),

    create: Effect.fnUntraced(function* (file, content) {
      const target = yield* resolve(file)
      yield* makeDirectories(target).pipe(
        Effect.andThen(files.create(target, content, temporaryFor(target))),
        Effect.onError(() => Effect.sync(() => durableDirectories.delete(path.dirname(target))))
      )
    }, Effect.uninterruptible),

    replace: (file, content) =>
      Effect.flatMap(resolve(file), (target) => files.replace(target, content, temporaryFor(target))),

    remove: Effect.fnUntraced(function* (file) {
      const target = yield* resolveFile(file)
      yield* Effect.andThen(files.remove(target), files.syncDirectory(path.dirname(target))).pipe(
        Effect.catchReason("PlatformError", "NotFound", () => absent(undefined))
      )
    }, Effect.uninterruptible)
  }
})

/** What an error says, with the system's own words where it has nothing better: the disk is full, for example. */
export const reasonOf = ({ message, reason }: PlatformError.PlatformError): string =>
  reason.description === undefined && reason.cause instanceof Error ? `${message}: ${reason.cause.message}` : message

const temporaryName = (name: string): string => `.${name}.${RandomHex.make(8)}.tmp`

const isTemporaryName = (name: string): boolean => /^\..+\.[0-9a-f]{16}\.tmp$/.test(name)
