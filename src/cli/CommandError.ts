/** What keeps a command from what it was asked for. */
import * as Data from "effect/Data"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as CliError from "effect/cli/CliError"

/** A fault in words for whoever typed the command. */
export class CommandError extends Schema.TaggedError<CommandError>()("CommandError", {
  message: Schema.String
}) {
  override get [CliError.userMessage](): string {
    return this.message
  }
}

/** The answer is no, and has been given: the command ends with status 1 and says nothing more. */
export class Refused extends Data.TaggedError("Refused") {
  override readonly [Runtime.errorReported] = false
}
