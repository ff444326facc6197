/**
 * Small files below one root that are written whole or not at all, also when the process or the machine stops half-way.
 *
 * A write goes to a temporary sibling that is flushed to disk before it takes the file's name, and the directory is
 * flushed after it. What a stopped process leaves behind is a temporary sibling, which no read sees and the next start
 * removes. Writes are not interruptible: they are short, and a file must not be closed while it is still written to.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Hex from "effect/encoding/Hex"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as PlatformError from "effect/PlatformError"

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

  /** Callers validate names where they come from. That nothing outside the root is touched does not rest on them. */
  const resolve = Effect.fnUntraced(function* (file: Segments) {
    const unsafe = file.find((segment) => !/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(segment))
    if (unsafe !== undefined) return yield* Effect.die(new Error(`${JSON.stringify(unsafe)} cannot be part of a path`))
    yield* refuseLinks(file)
    return path.join(root, ...file)
  })

  const directoriesWithoutLinks = new Set<string>()

  /** The root may be a link. One below it leads who knows where, and what it names is no file of the store. */
  const refuseLinks = Effect.fnUntraced(function* (file: Segments) {
    let entry = root
    for (const [index, segment] of file.entries()) {
      entry = path.join(entry, segment)
      if (directoriesWithoutLinks.has(entry)) continue
      const found = yield* Effect.asSome(fs.lstat(entry)).pipe(
        Effect.catchReason("PlatformError", "NotFound", () => Effect.succeedNone)
      )
      if (Option.isNone(found)) return
      if (found.value.type === "SymbolicLink") {
        return yield* PlatformError.systemError({
          _tag: "BadResource",
          module: "DurableFiles",
          method: "resolve",
          pathOrDescriptor: entry,
          description: "a symbolic link, which is not followed"
        })
      }
      if (index < file.length - 1) directoriesWithoutLinks.add(entry)
    }
  })

  /** Nothing can be said about a file without the root. */
  const absent = <A>(value: A): Effect.Effect<A, PlatformError.PlatformError> => Effect.as(fs.stat(root), value)

  /** Windows cannot open a directory. */
  const syncDirectory = (directory: string): Effect.Effect<void, PlatformError.PlatformError> =>
    process.platform === "win32"
      ? Effect.void
      : Effect.scoped(Effect.flatMap(fs.open(directory), (opened) => opened.sync))

  const removeIfThere = (file: string) => fs.remove(file, { force: true })

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
      yield* syncDirectory(parent)
      parent = child
    }
    durableDirectories.add(directory)
  })

  /** Writes a temporary sibling of the target and lets `commit` give it the target's name. */
  const write = (
    target: string,
    content: string,
    commit: (temporary: string) => Effect.Effect<void, PlatformError.PlatformError>
  ) =>
    Effect.suspend(() => {
      const temporary = path.join(path.dirname(target), temporaryName(path.basename(target)))
      const writeTemporary = Effect.gen(function* () {
        const opened = yield* fs.open(temporary, { flag: "wx", mode: 0o600 })
        yield* opened.writeAll(new TextEncoder().encode(content))
        yield* opened.sync
      })
      return Effect.scoped(writeTemporary).pipe(
        Effect.andThen(commit(temporary)),
        Effect.onError(() => Effect.ignore(removeIfThere(temporary)))
      )
    }).pipe(
      // Another process on the same root that starts now sweeps this one's temporary file away: write it again.
      Effect.retry({ times: 3, while: (error) => error.reason._tag === "NotFound" }),
      Effect.uninterruptible
    )

  const sweep = (directory: string, levels: number): Effect.Effect<void, PlatformError.PlatformError> =>
    Effect.gen(function* () {
      for (const { name, type } of yield* fs.readDirectoryEntries(directory)) {
        const entry = path.join(directory, name)
        if (levels > 0 && type === "Directory") yield* sweep(entry, levels - 1)
        if (levels === 0 && type === "File" && isTemporaryName(name)) yield* removeIfThere(entry)
      }
    })

  return {
    makeRoot: Effect.andThen(
      fs.makeDirectory(root, { recursive: true, mode: 0o700 }),
      // The parent may be none of ours to read, and then it was there already.
      Effect.ignore(syncDirectory(path.dirname(root)))
    ),

    sweep: (levels) => sweep(root, levels),

    read: Effect.fnUntraced(function* (file) {
      return yield* fs.readFileString(yield* resolve(file)).pipe(
        Effect.asSome,
        Effect.catchReason("PlatformError", "NotFound", () => absent(Option.none<string>()))
      )
    }),

    exists: Effect.fnUntraced(function* (file) {
      return (yield* fs.exists(yield* resolve(file))) || (yield* absent(false))
    }),

    modified: Effect.fnUntraced(function* (file) {
      const { mtime } = yield* fs.stat(yield* resolve(file))
      return Option.getOrElse(mtime, () => new Date(0))
    }),

    names: Effect.fnUntraced(function* (directory) {
      const names = yield* fs
        .readDirectory(yield* resolve(directory))
        .pipe(Effect.catchReason("PlatformError", "NotFound", () => absent<Array<string>>([])))
      return names.filter((name) => !isTemporaryName(name))
    }),

    create: Effect.fnUntraced(function* (file, content) {
      const target = yield* resolve(file)
      // Unlike a rename, a link never takes a name that is in use.
      const commit = (temporary: string) =>
        Effect.andThen(
          fs.link(temporary, target),
          removeIfThere(temporary).pipe(
            Effect.andThen(syncDirectory(path.dirname(target))),
            Effect.onError(() => Effect.ignore(removeIfThere(target)))
          )
        )
      yield* makeDirectories(target).pipe(
        Effect.andThen(write(target, content, commit)),
        Effect.onError(() => Effect.sync(() => durableDirectories.delete(path.dirname(target))))
      )
    }, Effect.uninterruptible),

    replace: Effect.fnUntraced(function* (file, content) {
      const target = yield* resolve(file)
      yield* write(target, content, (temporary) =>
        Effect.andThen(fs.rename(temporary, target), syncDirectory(path.dirname(target)))
      )
    }),

    remove: Effect.fnUntraced(function* (file) {
      const target = yield* resolve(file)
      yield* Effect.andThen(removeIfThere(target), syncDirectory(path.dirname(target))).pipe(
        Effect.catchReason("PlatformError", "NotFound", () => absent(undefined))
      )
    }, Effect.uninterruptible)
  }
})

/** What an error says, with the system's own words where it has nothing better: the disk is full, for example. */
export const reasonOf = ({ message, reason }: PlatformError.PlatformError): string =>
  reason.description === undefined && reason.cause instanceof Error ? `${message}: ${reason.cause.message}` : message

const temporaryName = (name: string): string => `.${name}.${Hex.encode(SecureRandom.randomBytesUnsafe(8))}.tmp`

const isTemporaryName = (name: string): boolean => /^\..+\.[0-9a-f]{16}\.tmp$/.test(name)
