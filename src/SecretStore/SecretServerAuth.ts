/**
 * How the store proves to the secret server who it is: by a token that it is given, or by one that it logs in for.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { BackendError } from "./SecretStorageError.ts"
import { SecretBackendUnavailable } from "./SecretStorageError.ts"

/** Where the token of each request comes from. */
export interface SecretServerAuth {
  /** The token to send. */
  readonly token: Effect.Effect<Redacted.Redacted, BackendError>
  /** A token in the place of one that the server refused; `None` when there is no other, so that the refusal stands. */
  readonly replace: (refused: Redacted.Redacted) => Effect.Effect<Option.Option<Redacted.Redacted>, BackendError>
}

/** A token from the configuration. One that the server refuses stays refused until the next start. */
export const fromToken = (token: Redacted.Redacted): SecretServerAuth => ({
  token: Effect.succeed(token),
  replace: () => Effect.succeedNone
})

/**
 * A token that something else keeps fresh in a file, as an agent beside the service does. The file is read for every
 * request, so that a change takes effect at once and without a restart.
 */
export const fromFile = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<SecretServerAuth, never, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const token = readSecretFile(fs, file, "read the token file")
  return {
    token,
    replace: (refused) => Effect.map(token, (read) => (isSame(read, refused) ? Option.none() : Option.some(read)))
  }
})

/** The text of a file that holds one secret, without the white space around it. */
export const readSecretFile = (
  fs: FileSystem.FileSystem,
  file: string,
  operation: string
): Effect.Effect<Redacted.Redacted, SecretBackendUnavailable> =>
  fs.readFileString(file).pipe(
    Effect.mapError((error) => new SecretBackendUnavailable({ operation, reason: error.message })),
    Effect.map((text) => text.trim()),
    Effect.filterOrFail(
      (text) => /^[\x21-\x7e]+$/.test(text),
      () => new SecretBackendUnavailable({ operation, reason: `${file} does not hold one line of visible text` })
    ),
    Effect.map((text) => Redacted.make(text))
  )

/** Whether two tokens are the same one. */
export const isSame = (one: Redacted.Redacted, other: Redacted.Redacted): boolean =>
  Redacted.value(one) === Redacted.value(other)
