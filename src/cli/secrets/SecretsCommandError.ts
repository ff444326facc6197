/** What keeps `layerhost secrets` from an answer, and the status that the command ends with. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as CliError from "effect/cli/CliError"
import type { SecretStorageError } from "../../SecretStore/SecretStorageError.ts"

/** The statuses that a script may tell apart; everything else that fails is 1. */
export const exitCodes = {
  failed: 1,
  /** There is no such secret, or no such version of it. */
  notFound: 2,
  /** The backend is away or refused the service: nothing is known of the secret. */
  unavailable: 3
} as const

/** A fault in words for whoever typed the command. */
export class SecretsCommandError extends Schema.TaggedError<SecretsCommandError>()("SecretsCommandError", {
  message: Schema.String,
  /** The tag of the error behind it; `Usage` where the command itself was wrong. */
  tag: Schema.String,
  exitCode: Schema.Int
}) {
  override get [CliError.userMessage](): string {
    return this.message
  }
  override get [Runtime.errorExitCode](): number {
    return this.exitCode
  }
}

/** The fault has been told already: the command ends with its status and says nothing more. */
export class Told extends Data.TaggedError("Told")<{ readonly exitCode: number }> {
  override readonly [Runtime.errorReported] = false
  override get [Runtime.errorExitCode](): number {
    return this.exitCode
  }
}

/** The command was not understood. */
export const usage = (message: string): SecretsCommandError =>
  new SecretsCommandError({ message, tag: "Usage", exitCode: exitCodes.failed })

/** What a storage's error means to a command. */
export const fromStorage = (error: SecretStorageError): SecretsCommandError =>
  new SecretsCommandError({ message: error.message, tag: error._tag, exitCode: exitCodeOf(error) })

const exitCodeOf = ({ _tag }: SecretStorageError): number => {
  switch (_tag) {
    case "SecretNotFound":
    case "SecretVersionNotFound":
      return exitCodes.notFound
    case "SecretAccessDenied":
    case "SecretBackendUnavailable":
      return exitCodes.unavailable
    default:
      return exitCodes.failed
  }
}

/** Refuses arguments that may be values of a secret, without repeating them. */
export const refuseValues = (values: ReadonlyArray<unknown>): Effect.Effect<void, SecretsCommandError> =>
  values.length === 0
    ? Effect.void
    : Effect.fail(
        usage(
          "The values of a secret are never taken from arguments: those stand in the list of processes and in the shell's" +
            " history. Type them at the prompt, or give them on standard input: layerhost secrets create <bucket> <" +
            " secret.json. If that was a value in use, change it."
        )
      )
