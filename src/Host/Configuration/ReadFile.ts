/**
 * Reads configuration files into assignments; whatever is wrong with one becomes a problem that names it.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import { type Assignment, describeSource } from "./Assignment.ts"
import { ConfigurationProblem } from "./ConfigurationError.ts"
import type { ConfigurationFile } from "./ConfigurationFiles.ts"
import { DocumentError, faults, type Position } from "./DocumentNode.ts"
import * as JsonDocument from "./JsonDocument.ts"
import * as StrictJson from "./StrictJson.ts"
import * as YamlDocument from "./YamlDocument.ts"

/** What a file sets, and what is wrong with it. */
export interface FileContent {
  /** Undefined where the file cannot be read at all. */
  readonly assignment: Assignment | undefined
  readonly problems: ReadonlyArray<ConfigurationProblem>
}

/** No configuration file may be larger. */
export const maxFileSize = 2 * 1024 * 1024

/**
 * Reads files. It never fails: see {@link FileContent.problems}.
 *
 * All are looked at before the first is read, and read before the first is parsed, which takes less time than by turns. YAML
 * takes long to parse: before each such file, whatever else the process does has its turn, such as requests during a reload.
 */
export const readFiles = Effect.fnUntraced(function* (
  files: ReadonlyArray<ConfigurationFile>
): Effect.fn.Return<ReadonlyArray<FileContent>, never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const orProblem = <A>(effect: Effect.Effect<A, PlatformError>, { path }: ConfigurationFile) =>
    effect.pipe(Effect.catch((error) => Effect.succeed(unreadable(path, error))))
  const checked = yield* Effect.forEach(
    files,
    (file) =>
      orProblem(
        Effect.map(fs.stat(file.path), (info) => statProblem(file.path, info)),
        file
      ),
    { concurrency: "unbounded" }
  )
  const read = yield* Effect.forEach(
    files,
    (file, index) => {
      const problem = checked[index]
      return problem === undefined ? orProblem(fs.readFile(file.path), file) : Effect.succeed(problem)
    },
    // Each may be open meanwhile, and a process may have only so many open.
    { concurrency: 64 }
  )
  const contents: Array<FileContent> = []
  for (const [index, file] of files.entries()) {
    const bytes = read[index]!
    if (file.format === "yaml") yield* Effect.yieldNow
    contents.push(bytes instanceof ConfigurationProblem ? failed(bytes) : parse(file, bytes))
  }
  return contents
})

const failed = (problem: ConfigurationProblem): FileContent => ({ assignment: undefined, problems: [problem] })

const statProblem = (path: string, { size, type }: FileSystem.File.Info): ConfigurationProblem | undefined => {
  if (type !== "File") {
    const found = type === "Directory" ? "a directory" : "not a regular file"
    return fileProblem(path, "a file", `expected a file, but it is ${found}`)
  }
  if (size <= maxFileSize) return undefined
  const megabytes = `${maxFileSize / 1024 / 1024} MB`
  return fileProblem(path, `at most ${megabytes}`, `the file is larger than ${megabytes}`)
}

const unreadable = (path: string, error: PlatformError): ConfigurationProblem =>
  fileProblem(
    path,
    "a file that can be read",
    error.reason._tag === "NotFound"
      ? "the file is gone: it was removed after it was found, or it is a link to nothing"
      : error.reason._tag === "PermissionDenied"
        ? "the file cannot be read: permission denied"
        : `the file cannot be read (${error.reason._tag})`
  )

const parse = (file: ConfigurationFile, bytes: Uint8Array): FileContent => {
  const sourceAt = ({ line, column }: Position) => ({ _tag: "File", path: file.path, line, column }) as const
  const problemOf = (error: DocumentError) =>
    fileProblem(describeSource(sourceAt(error.position)), error.expected, error.message)
  try {
    const text = decodeUtf8(bytes)
    const strict = file.format === "json" ? StrictJson.parse(text) : undefined
    const document = strict ?? (file.format === "json" ? JsonDocument.parse(text) : YamlDocument.parse(text))
    const errors = strict === undefined ? faults(document) : []
    return {
      assignment: document._tag === "Section" ? { path: [], value: document, source: sourceAt(start) } : undefined,
      problems: errors.map(problemOf)
    }
  } catch (error) {
    if (error instanceof DocumentError) return failed(problemOf(error))
    throw error
  }
}

const start: Position = { line: 1, column: 1 }

const decoder = new TextDecoder("utf-8", { fatal: true })

const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    throw new DocumentError(firstInvalidByte(bytes), "UTF-8", "the file is not valid UTF-8")
  }
}

/** Where a lossy decoding, encoded again, first differs from the bytes. */
const firstInvalidByte = (bytes: Uint8Array): Position => {
  const lossy = new TextEncoder().encode(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes))
  const invalid = bytes.findIndex((byte, index) => byte !== lossy[index])
  const before = new TextDecoder().decode(bytes.subarray(0, Math.max(invalid, 0)))
  const lineStart = before.lastIndexOf("\n") + 1
  return { line: before.split("\n").length, column: before.length - lineStart + 1 }
}

const fileProblem = (source: string, expected: string, message: string): ConfigurationProblem =>
  new ConfigurationProblem({ key: null, source, expected, owner: null, message })
