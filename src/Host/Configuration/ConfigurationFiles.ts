/**
 * Which files make up the configuration, and in which order they load.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type { PlatformError } from "effect/PlatformError"
import { ConfigurationProblem } from "./ConfigurationError.ts"

/** The formats, by the end of a file's name. */
export type Format = "json" | "yaml"

/** The files in load order, and what kept others from being found. */
export interface ConfigurationFiles {
  readonly files: ReadonlyArray<ConfigurationFile>
  /** Every directory that was searched, and each given one even where it is missing. */
  readonly directories: ReadonlyArray<string>
  readonly problems: ReadonlyArray<ConfigurationProblem>
}

/** A file that takes part. */
export interface ConfigurationFile {
  readonly path: string
  readonly format: Format
}

/** The place of a file's name in the load order; undefined where the file takes no part. */
export interface Rank {
  readonly format: Format
  /**
   * 1 `appsettings.json`, 2 `appsettings.yaml`, 3 `appsettings.*.json`, 4 `appsettings.*.yaml`, 5 `appsettings.secrets.*`,
   * 6 `appsettings.*.secrets.*`; `.yml` counts as `.yaml`.
   */
  readonly group: 1 | 2 | 3 | 4 | 5 | 6
  /** How many parts the name has between its dots. */
  readonly nodes: number
}

/** Ranks a file by its name. */
export const rank = (name: string): Rank | undefined => {
  const nodes = name.split(".")
  const extension = nodes.at(-1)
  if (nodes[0] !== "appsettings" || nodes.length < 2) return undefined
  const format = extension === "json" ? "json" : extension === "yaml" || extension === "yml" ? "yaml" : undefined
  if (format === undefined) return undefined
  const secrets = nodes.length > 2 && nodes.at(-2) === "secrets"
  const plain = format === "json" ? 1 : 2
  const group = secrets ? (nodes.length === 3 ? 5 : 6) : nodes.length === 2 ? plain : plain === 1 ? 3 : 4
  return { format, group, nodes: nodes.length }
}

interface Found extends Rank {
  readonly path: string
  /** The place of the directory: additional ones as they were listed, the main one last. */
  readonly directory: number
}

/**
 * Finds the files of the main directory (without its subfolders) and of the additional directories (with theirs).
 *
 * The group of a file's name comes first, so that secrets files of any directory load after all others; within a group,
 * additional directories load before the main one, then fewer nodes before more, then by path. A file that is found twice
 * loads at its later place only.
 */
export const find = Effect.fn("ConfigurationFiles.find")(function* (
  directory: string,
  additional: ReadonlyArray<string>
): Effect.fn.Return<ConfigurationFiles, never, FileSystem.FileSystem | Path.Path> {
  const path = yield* Path.Path
  const main = path.resolve(directory)
  const found: Array<Found> = []
  const problems: Array<ConfigurationProblem> = []
  const given = [...additional.map((each) => path.resolve(main, each)), main]
  const searched = new Set(given)
  for (const [place, each] of given.entries()) {
    const isMain = place === given.length - 1
    const files = yield* Effect.result(isMain ? list(each) : listDeep(each, searched, new Set()))
    if (files._tag === "Success") {
      for (const file of files.success) found.push({ ...file, directory: place })
    } else problems.push(directoryProblem(each, isMain, files.failure))
  }
  const ordered = found.toSorted(
    (a, b) => a.group - b.group || a.directory - b.directory || a.nodes - b.nodes || (a.path < b.path ? -1 : 1)
  )
  const last = new Map(ordered.map((file, index) => [file.path, index]))
  return {
    files: ordered.filter((file, index) => last.get(file.path) === index),
    directories: [...searched],
    problems
  }
})

type RankedFile = Rank & { readonly path: string }

const list = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  return rankAll(yield* Path.Path, directory, yield* fs.readDirectory(directory))
})

const rankAll = (path: Path.Path, directory: string, names: ReadonlyArray<string>): ReadonlyArray<RankedFile> =>
  names.flatMap((name) => {
    const ranked = rank(name)
    return ranked === undefined ? [] : [{ ...ranked, path: path.join(directory, name) }]
  })

/**
 * Hidden folders are left out, since mounted volumes keep their older versions there, and so is `node_modules`. Links to
 * folders are followed; `seen` holds the real paths of all folders so far, so that a circle ends. Notes each in `searched`.
 */
const listDeep = Effect.fnUntraced(function* (
  directory: string,
  searched: Set<string>,
  seen: Set<string>
): Effect.fn.Return<ReadonlyArray<RankedFile>, PlatformError, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const real = yield* fs.realPath(directory)
  if (seen.has(real)) return []
  seen.add(real)
  searched.add(directory)
  const names = (yield* fs.readDirectory(directory)).toSorted()
  const files = [...rankAll(path, directory, names)]
  for (const name of names) {
    if (rank(name) !== undefined || name.startsWith(".") || name === "node_modules") continue
    const child = path.join(directory, name)
    // What cannot be looked at is not a folder of configuration: a dangling link, a file that has just gone.
    const isDirectory = yield* Effect.orElseSucceed(
      Effect.map(fs.stat(child), (info) => info.type === "Directory"),
      () => false
    )
    if (isDirectory) files.push(...(yield* listDeep(child, searched, seen)))
  }
  return files
})

const directoryProblem = (directory: string, isMain: boolean, error: PlatformError): ConfigurationProblem => {
  const what = isMain ? "the configuration directory" : "a directory of host:additionalConfigPaths"
  const missing = error.reason._tag === "NotFound"
  return new ConfigurationProblem({
    key: null,
    source: directory,
    expected: "a directory that can be read",
    owner: null,
    message: missing ? `${what} does not exist` : `${what} cannot be read (${error.reason._tag})`
  })
}
