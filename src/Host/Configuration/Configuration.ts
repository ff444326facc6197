/**
 * Loads the layered configuration of a service: files, then environment variables, then command-line arguments.
 *
 * Reading, merging and decoding stand apart: {@link load} reads and merges, and a section is decoded by `decode`, so that
 * the configuration can be shown, checked and read again without a service that runs.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as Path from "effect/Path"
import { type Assignment, describeSource } from "./Assignment.ts"
import * as CommandLine from "./CommandLine.ts"
import { ConfigurationProblem } from "./ConfigurationError.ts"
import * as ConfigurationFiles from "./ConfigurationFiles.ts"
import * as ConfigurationTree from "./ConfigurationTree.ts"
import * as Environment from "./Environment.ts"
import { fromObject } from "./ProgramValues.ts"
import { readFiles } from "./ReadFile.ts"

/** Where a service's configuration comes from. What is left out gives nothing. */
export interface Sources {
  /** The main directory of `appsettings` files; without it no file is read. */
  readonly directory?: string
  readonly environment?: Environment.Variables
  /** The arguments behind the program's name. */
  readonly args?: ReadonlyArray<string>
  /** Values of the program itself, as a file would hold them: over all files, below variables and arguments. */
  readonly values?: Readonly<Record<string, unknown>>
}

const additionalPathsKey = "host:additionalConfigPaths"

/**
 * Reads and merges all sources. It never fails: what could not be read stands in the tree's `problems`, so that it is
 * reported together with everything that does not decode.
 */
export const load = Effect.fn("Configuration.load")(function* (
  sources: Sources
): Effect.fn.Return<ConfigurationTree.ConfigurationTree, never, FileSystem.FileSystem | Path.Path> {
  const variables = Environment.assignments(sources.environment ?? {})
  const commandLine = CommandLine.read(sources.args ?? [])
  const text = [...variables, ...commandLine.assignments]
  const additional = splitCommas(ConfigurationTree.findText(ConfigurationTree.merge(text), additionalPathsKey) ?? "")
  const found =
    sources.directory === undefined
      ? { files: [], directories: [], problems: [] }
      : yield* ConfigurationFiles.find(sources.directory, additional)
  const contents = yield* readFiles(found.files)
  const fromFiles = [...contents.flatMap((content) => content.assignment ?? []), fromObject(sources.values ?? {})]
  const assignments = [...fromFiles, ...text]
  return {
    root: ConfigurationTree.merge(assignments),
    assignments,
    files: found.files.map((file) => file.path),
    directories: found.directories,
    problems: [...found.problems, ...contents.flatMap((content) => content.problems), ...commandLine.problems],
    // Looks into every file, and so only once somebody asks, as with all that is merged.
    get warnings() {
      return [...ConfigurationTree.history(fromFiles, additionalPathsKey).map(withoutEffect), ...commandLine.warnings]
    }
  }
})

/** The parts of a comma-separated text, without white space and empty parts. */
export const splitCommas = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

const withoutEffect = ({ source }: Assignment): ConfigurationProblem =>
  new ConfigurationProblem({
    key: additionalPathsKey,
    source: describeSource(source),
    expected: "the environment variable HOST_ADDITIONALCONFIGPATHS or the argument --HOST:ADDITIONALCONFIGPATHS",
    owner: null,
    message: "has no effect in a file; set HOST_ADDITIONALCONFIGPATHS or --HOST:ADDITIONALCONFIGPATHS"
  })
