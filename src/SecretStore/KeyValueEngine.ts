/**
 * The secret server's key-value engine, version 2: small documents whose every version is numbered.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { type SecretServerClient, unexpected } from "./SecretServerClient.ts"
import type { Answer, Request } from "./SecretServerExchange.ts"
import { says } from "./SecretServerReason.ts"
import { type BackendError, SecretBackendUnavailable } from "./SecretStorageError.ts"

/** A document as it was read. */
export interface Document {
  readonly data: unknown
  /** Counts up from 1 with each write. */
  readonly version: number
}

/** The documents below a mount. `operation` says in messages what the caller is about: "read a secret". */
export interface KeyValueEngine {
  /** The newest version; `None` where there is no document, or a deleted one. */
  readonly read: (operation: string, path: string) => Effect.Effect<Option.Option<Document>, BackendError>
  /**
   * Writes the version after `replaces`, 0 for a document that must not be there yet. Where another writer was faster,
   * `None`, and nothing is written; else the new version.
   */
  readonly write: (
    operation: string,
    path: string,
    data: unknown,
    replaces: number
  ) => Effect.Effect<Option.Option<number>, BackendError>
  /** Removes a document with all its versions. */
  readonly remove: (operation: string, path: string) => Effect.Effect<void, BackendError>
}

/** The engine at a mount. */
export const make = (client: SecretServerClient, mount: string): KeyValueEngine => ({
  read: Effect.fnUntraced(function* (operation, path) {
    const request: Request = { method: "GET", path: `${mount}/data/${path}` }
    const answer = yield* client.send(operation, request)
    if (isAbsence(answer)) return Option.none()
    if (answer.status !== 200) return yield* unexpected(operation, request, answer)
    const { data } = yield* Effect.mapError(decodeDocument(answer.body), () => unreadable(operation))
    return Option.some({ data: data.data, version: data.metadata.version })
  }),

  write: Effect.fnUntraced(function* (operation, path, data, replaces) {
    const body = { data, options: { cas: replaces } }
    const request: Request = { method: "POST", path: `${mount}/data/${path}`, body }
    const answer = yield* client.send(operation, request)
    if (answer.status === 400 && says(answer, /check-and-set parameter did not match/i)) return Option.none()
    if (answer.status >= 400) return yield* unexpected(operation, request, answer)
    return Option.some(replaces + 1)
  }),

  remove: Effect.fnUntraced(function* (operation, path) {
    const request: Request = { method: "DELETE", path: `${mount}/metadata/${path}` }
    const answer = yield* client.send(operation, request)
    if (answer.status >= 400 && !isAbsence(answer)) return yield* unexpected(operation, request, answer)
  })
})

/**
 * Nothing there: no errors at all; deleted: the metadata of what was. A mount that is missing, or a page that is not the
 * server's, is 404 too, and no absence.
 */
const isAbsence = ({ body, errors, status }: Answer): boolean =>
  status === 404 && (errors === undefined ? isDeleted(body) : errors.length === 0)

const isDeleted = (body: unknown): boolean =>
  Predicate.hasProperty(body, "data") && Predicate.hasProperty(body.data, "metadata")

const decodeDocument = Schema.decodeUnknownEffect(
  Schema.Struct({
    data: Schema.Struct({
      data: Schema.Unknown,
      metadata: Schema.Struct({ version: Schema.Int })
    })
  })
)

const unreadable = (operation: string) =>
  new SecretBackendUnavailable({ operation, reason: "its answer is not one of a key-value engine of version 2" })
