/** What keeps `layerhost dev` from running a service. */
import * as Schema from "effect/Schema"
import * as CliError from "effect/cli/CliError"
import { relative } from "node:path"

/** A fault in words for whoever typed the command. */
export class DevError extends Schema.TaggedError<DevError>()("DevError", { message: Schema.String }) {
  override get [CliError.userMessage](): string {
    return this.message
  }

  static noProgram(main: string): DevError {
    return new DevError({
      message: `${relative("", main)} does not exist: run this in the service's directory, or name its program with --main`
    })
  }
}
