/** What keeps the plugin list from being written, or from being fresh. */
import type { PlatformError } from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as CliError from "effect/cli/CliError"
import * as nodePath from "node:path"

/** One fault and where it is. */
const Problem = Schema.Struct({
  file: Schema.String,
  /** Counted from 1; absent where the whole file is meant. */
  line: Schema.UndefinedOr(Schema.Int),
  description: Schema.String
})

/** Everything that is wrong with the sources, told at once. */
export class GenerateError extends Schema.TaggedError<GenerateError>()("GenerateError", {
  problems: Schema.Array(Problem)
}) {
  override get message(): string {
    return this.problems
      .map(({ file, line, description }) => `${shown(file)}${line === undefined ? "" : `:${line}`}: ${description}`)
      .join("\n")
  }
  override get [CliError.userMessage](): string {
    return this.message
  }
}

/** An error with one problem. */
export const at = (file: string, line: number | undefined, description: string): GenerateError =>
  new GenerateError({ problems: [{ file, line, description }] })

/** One error with the problems of all; a file that cannot be read is a problem like any other. */
export const merge = (errors: ReadonlyArray<GenerateError | PlatformError>): GenerateError =>
  new GenerateError({
    problems: errors.flatMap((error) =>
      error._tag === "GenerateError"
        ? error.problems
        : [{ file: pathOf(error), line: undefined, description: error.message }]
    )
  })

/** The same problems by file and line. */
export const sorted = ({ problems }: GenerateError): GenerateError =>
  new GenerateError({
    problems: problems.toSorted((a, b) =>
      a.file === b.file ? (a.line ?? 0) - (b.line ?? 0) : a.file < b.file ? -1 : 1
    )
  })

const pathOf = ({ reason }: PlatformError): string =>
  reason._tag === "BadArgument" ? "" : String(reason.pathOrDescriptor ?? "")

/** The list that stands in the service is not the one that would be written. */
export class StaleError extends Schema.TaggedError<StaleError>()("StaleError", {
  file: Schema.String,
  reason: Schema.Literals(["missing", "stale"]),
  /** The command that writes it. */
  fix: Schema.String
}) {
  override get message(): string {
    return `${shown(this.file)} is ${this.reason}: run \`${this.fix}\``
  }
  override get [CliError.userMessage](): string {
    return this.message
  }
}

/** A path as the user would type it. */
export const shown = (file: string): string => nodePath.relative("", file) || "."

/** The line, counted from 1, of an offset in a text. */
export const lineAt = (text: string, offset: number): number => text.slice(0, Math.max(offset, 0)).split("\n").length
