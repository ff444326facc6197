/**
 * Reads and writes of whole files, straight over `node:fs`: one step of a fiber for each, however many calls it takes.
 *
 * Effect's own `FileSystem` serves where that does not matter. It takes a signal for each read, and a scope, a descriptor and
 * four calls for a file that must be no link, or that is to be flushed.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as PlatformError from "effect/PlatformError"
import * as fs from "node:fs"
import { dirname } from "node:path"

type Callback<A = void> = (error: NodeJS.ErrnoException | null, result: A) => void

/** The functions of `node:fs` that are called here. */
export interface NodeFs {
  readonly readFile: (
    file: string,
    options: { readonly encoding: "utf8"; readonly flag: number },
    done: Callback<string>
  ) => void
  readonly open: (file: string, flag: "r" | "wx", mode: number, done: Callback<number>) => void
  readonly writeFileSync: (descriptor: number, content: string) => void
  readonly link: (existing: string, file: string, done: Callback) => void
  readonly rename: (from: string, to: string, done: Callback) => void
  readonly unlink: (file: string, done: Callback) => void
  readonly fsync: (descriptor: number, done: Callback) => void
  readonly closeSync: (descriptor: number) => void
}

/** `node:fs`, or, in tests, one with something broken in it. */
export const NodeFs = Context.Reference<NodeFs>("layerhost/SecretStore/NodeFs", { defaultValue: () => fs as NodeFs })

/** Operations on files by their absolute paths. None of them ends half-way when its fiber is interrupted. */
export interface NodeFiles {
  /**
   * The content of a file, and what `missing` gives where there is none. Where it is a link, nothing is read, and the error
   * says {@link notFollowed}.
   */
  readonly read: (
    file: string,
    missing: Effect.Effect<Option.Option<string>, PlatformError.PlatformError>
  ) => Effect.Effect<Option.Option<string>, PlatformError.PlatformError>
  /**
   * Writes a file that is not there yet, for its owner only, so that it is on disk under its name, or not there at all. Fails
   * with `AlreadyExists` where there is one. `temporary` is a name beside it.
   */
  readonly create: (
    file: string,
    content: string,
    temporary: () => string
  ) => Effect.Effect<void, PlatformError.PlatformError>
  /** Writes a file in the place of one that may be there, so that either stands, and afterwards the new one is on disk. */
  readonly replace: (
    file: string,
    content: string,
    temporary: () => string
  ) => Effect.Effect<void, PlatformError.PlatformError>
  /** Removes a file, if it is there. */
  readonly remove: (file: string) => Effect.Effect<void, PlatformError.PlatformError>
  /** Flushes the names in a directory to disk. On Windows, which cannot open one, nothing. */
  readonly syncDirectory: (directory: string) => Effect.Effect<void, PlatformError.PlatformError>
}

/** Whether {@link NodeFiles.read} itself refuses a link. Windows has no such way to open a file. */
export const refusesLinks = typeof fs.constants.O_NOFOLLOW === "number"

const readOptions = { encoding: "utf8", flag: fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0) } as const

/** The operations over Node's functions. */
export const make = (fs: NodeFs): NodeFiles => {
  const remove = (file: string) =>
    promised((done) => fs.unlink(file, (error) => done(error?.code === "ENOENT" ? null : error)))

  const removeAnyway = (file: string) => remove(file).catch(() => undefined)

  /** Runs something that ends with flushing a directory, which is opened meanwhile. Windows cannot open one. */
  const withDirectory = async <A>(directory: string, use: (sync: () => Promise<void>) => Promise<A>): Promise<A> => {
    if (process.platform === "win32") return use(() => Promise.resolve())
    const opening = promised<number>((done) => fs.open(directory, "r", 0, done))
    // Where it fails, that is heard of in the end, or does not matter any more.
    opening.catch(() => {})
    const sync = async () => {
      const descriptor = await opening
      await promised((done) => fs.fsync(descriptor, done))
    }
    try {
      return await use(sync)
    } finally {
      void opening.then(fs.closeSync).catch(() => {})
    }
  }

  const writeNew = async (file: string, content: string): Promise<void> => {
    const descriptor = await promised<number>((done) => fs.open(file, "wx", 0o600, done))
    try {
      // A copy in memory, for which another thread would only be a detour. What waits for the disk is the flushing.
      fs.writeFileSync(descriptor, content)
      await promised((done) => fs.fsync(descriptor, done))
    } finally {
      fs.closeSync(descriptor)
    }
  }

  /** Writes a temporary file that is on disk before `commit` gives it its name. */
  const write = async (
    content: string,
    temporaryName: () => string,
    commit: (temporary: string) => Promise<void>
  ): Promise<void> => {
    for (let tries = 1; ; tries++) {
      const temporary = temporaryName()
      try {
        await writeNew(temporary, content)
        return await commit(temporary)
      } catch (error) {
        await removeAnyway(temporary)
        // Another process on the same root that starts now sweeps this one's temporary file away: write it again.
        if (codeOf(error) !== "ENOENT" || tries === maxTries) throw error
      }
    }
  }

  return {
    read: (file, missing) =>
      Effect.callback((resume) => {
        fs.readFile(file, readOptions, (error, content) => {
          if (error === null) resume(Effect.succeedSome(content))
          else resume(error.code === "ENOENT" ? missing : Effect.fail(failure(error)))
        })
      }),

    create: (file, content, temporaryName) =>
      whole(() =>
        withDirectory(dirname(file), (sync) =>
          write(content, temporaryName, async (temporary) => {
            // Unlike a rename, a link never takes a name that is in use.
            await promised((done) => fs.link(temporary, file, done))
            try {
              await remove(temporary)
              await sync()
            } catch (error) {
              await removeAnyway(file)
              throw error
            }
          })
        )
      ),

    replace: (file, content, temporaryName) =>
      whole(() =>
        withDirectory(dirname(file), (sync) =>
          write(content, temporaryName, async (temporary) => {
            await promised((done) => fs.rename(temporary, file, done))
            await sync()
          })
        )
      ),

    remove: (file) => whole(() => remove(file)),

    syncDirectory: (directory) => whole(() => withDirectory(directory, (sync) => sync()))
  }
}

const maxTries = 4

const promised = <A = void>(begin: (done: Callback<A>) => void): Promise<A> =>
  new Promise((resolve, reject) => begin((error, result) => (error === null ? resolve(result) : reject(error))))

const whole = <A>(evaluate: () => Promise<A>): Effect.Effect<A, PlatformError.PlatformError> =>
  Effect.uninterruptible(Effect.tryPromise({ try: evaluate, catch: failure }))

/** What an error says of a link. */
export const notFollowed = "a symbolic link, which is not followed"

const tags: { readonly [code: string]: PlatformError.SystemErrorTag } = {
  ENOENT: "NotFound",
  EEXIST: "AlreadyExists",
  EACCES: "PermissionDenied",
  EPERM: "PermissionDenied",
  EBUSY: "Busy",
  EISDIR: "BadResource",
  ENOTDIR: "BadResource",
  ELOOP: "BadResource"
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ""

const failure = (error: unknown): PlatformError.PlatformError => {
  const { path, syscall } = error as NodeJS.ErrnoException
  const code = codeOf(error)
  return PlatformError.systemError({
    _tag: tags[code] ?? "Unknown",
    module: "NodeFiles",
    method: syscall ?? "call",
    ...(path !== undefined && { pathOrDescriptor: path }),
    ...(code === "ELOOP" && { description: notFollowed }),
    cause: error
  })
}
