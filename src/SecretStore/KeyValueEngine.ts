/**
 * The secret server's key-value engine, version 2: small documents whose every version is numbered.
 */
import * as Arr from "effect/Array"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
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

/** What the engine knows of a document that is there. */
export interface DocumentMetadata {
  /** The newest version. */
  readonly version: number
  /** When the first version was written, also when it is kept no more. */
  readonly created: DateTime.Utc
  /** The versions that can be read, the newest first. */
  readonly versions: Arr.NonEmptyReadonlyArray<{ readonly version: number; readonly created: DateTime.Utc }>
}

/** The documents below a mount. `operation` says in messages what the caller is about: "read a secret". */
export interface KeyValueEngine {
  /** The newest version, or the given one; `None` where there is no document, or a deleted one. */
  readonly read: (
    operation: string,
    path: string,
    version?: number
  ) => Effect.Effect<Option.Option<Document>, BackendError>
  /** What is known of a document; `None` where there is none, or a deleted one. */
  readonly metadata: (operation: string, path: string) => Effect.Effect<Option.Option<DocumentMetadata>, BackendError>
  /** The names in a folder that come after one, sorted; not all of them where the server gives them in pages. */
  readonly list: (
    operation: string,
    folder: string,
    after: Option.Option<string>
  ) => Effect.Effect<{ readonly names: ReadonlyArray<string>; readonly next: Option.Option<string> }, BackendError>
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
  /** Takes the newest version out of sight, and so the document; it is back with the next version that is written. */
  readonly hide: (operation: string, path: string) => Effect.Effect<void, BackendError>
  /** Removes a document with all its versions. */
  readonly remove: (operation: string, path: string) => Effect.Effect<void, BackendError>
}

/** How many names a page has. Only OpenBao has pages; Vault gives all names at once. */
const pageSize = 1000

/** The names of half a million documents. */
const maxListBytes = 32 * 1024 * 1024

/** The engine at a mount. */
export const make = (client: SecretServerClient, mount: string): KeyValueEngine => {
  const read: KeyValueEngine["read"] = (operation, path, version) => {
    const query = version === undefined ? "" : `?version=${version}`
    const request: Request = { method: "GET", path: `${mount}/data/${path}${query}` }
    return Effect.flatMap(
      client.send(operation, request),
      (answer): Effect.Effect<Option.Option<Document>, SecretBackendUnavailable> => {
        if (isAbsence(answer)) return Effect.succeedNone
        if (answer.status !== 200) return Effect.fail(unexpected(operation, request, answer))
        const decoded = decodeDocument(answer.body)
        if (Option.isNone(decoded)) return Effect.fail(unreadable(operation))
        const { data, metadata } = decoded.value.data
        return Effect.succeedSome({ data, version: metadata.version })
      }
    )
  }

  const erase = Effect.fnUntraced(function* (operation: string, path: string) {
    const request: Request = { method: "DELETE", path: `${mount}/${path}` }
    const answer = yield* client.send(operation, request)
    if (answer.status >= 400 && !isAbsence(answer)) return yield* unexpected(operation, request, answer)
  })

  return {
    read,

    metadata: Effect.fnUntraced(function* (operation, path) {
      const request: Request = { method: "GET", path: `${mount}/metadata/${path}` }
      const answer = yield* client.send(operation, request)
      if (isAbsence(answer)) return Option.none()
      if (answer.status !== 200) return yield* unexpected(operation, request, answer)
      const { data } = yield* Effect.mapError(decodeMetadata(answer.body), () => unreadable(operation))
      const now = yield* DateTime.now
      const versions = Object.entries(data.versions)
        .filter(([, it]) => !it.destroyed && !Option.exists(it.deletion_time, DateTime.isLessThanOrEqualTo(now)))
        .map(([version, it]) => ({ version: Number(version), created: it.created_time }))
        .toSorted((a, b) => b.version - a.version)
      // One whose newest version is deleted reads as absent, whatever else is there of it.
      return Arr.isReadonlyArrayNonEmpty(versions) && versions[0].version === data.current_version
        ? Option.some({ version: data.current_version, created: data.created_time, versions })
        : Option.none()
    }),

    list: Effect.fnUntraced(function* (operation, folder, after) {
      const from = Option.match(after, { onNone: () => "", onSome: (name) => `&after=${encodeURIComponent(name)}` })
      const path = `${mount}/metadata/${folder}?list=true&limit=${pageSize}${from}`
      const request: Request = { method: "GET", path, maxAnswerBytes: maxListBytes }
      const answer = yield* client.send(operation, request)
      if (isAbsence(answer)) return { names: [], next: Option.none() }
      if (answer.status !== 200) return yield* unexpected(operation, request, answer)
      const { data, warnings } = yield* Effect.mapError(decodeList(answer.body), () => unreadable(operation))
      // Vault warns those who ask for pages, and where there is nothing, that is its answer, instead of 404.
      const keys = data.keys ?? (warnings === null ? yield* unreadable(operation) : [])
      const names = Option.match(after, { onNone: () => keys, onSome: (name) => keys.filter((key) => key > name) })
      // A server without pages may have as many names by chance; then it has none after them.
      return { names, next: keys.length === pageSize ? Arr.last(names) : Option.none() }
    }),

    write: Effect.fnUntraced(function* (operation, path, data, replaces) {
      const body = { data, options: { cas: replaces } }
      const request: Request = { method: "POST", path: `${mount}/data/${path}`, body }
      const answer = yield* client.send(operation, request)
      if (answer.status === 400 && says(answer, /check-and-set parameter did not match/i)) {
        if (answer.isRepeated !== true) return Option.none()
        // A repeated write meets the one whose answer was lost.
        const isMine = (document: Document) => document.version === replaces + 1 && Equal.equals(document.data, data)
        const now = yield* Effect.mapError(
          read(operation, path),
          ({ reason }) => new SecretBackendUnavailable({ operation, reason, mayBeDone: true })
        )
        return Option.map(Option.filter(now, isMine), ({ version }) => version)
      }
      if (answer.status >= 400) return yield* unexpected(operation, request, answer)
      return Option.some(replaces + 1)
    }),

    hide: (operation, path) => erase(operation, `data/${path}`),
    remove: (operation, path) => erase(operation, `metadata/${path}`)
  }
}

/**
 * Nothing there: no errors at all; deleted: the metadata of what was. A mount that is missing, or a page that is not the
 * server's, is 404 too, and no absence.
 */
const isAbsence = ({ body, errors, status }: Answer): boolean =>
  status === 404 && (errors === undefined ? isDeleted(body) : errors.length === 0)

const isDeleted = (body: unknown): boolean =>
  Predicate.hasProperty(body, "data") && Predicate.hasProperty(body.data, "metadata")

const decodeDocument = Schema.decodeUnknownOption(
  Schema.Struct({
    data: Schema.Struct({
      data: Schema.Unknown,
      metadata: Schema.Struct({ version: Schema.Int })
    })
  })
)

/** The server writes no time as an empty text. */
const OptionalTime = Schema.Union([Schema.Literal(""), Schema.DateTimeUtcFromString]).pipe(
  Schema.decodeTo(Schema.Option(Schema.DateTimeUtc), {
    decode: SchemaGetter.transform((time) => (time === "" ? Option.none() : Option.some(time))),
    encode: SchemaGetter.transform(Option.getOrElse(() => "" as const))
  })
)

const decodeMetadata = Schema.decodeUnknownEffect(
  Schema.Struct({
    data: Schema.Struct({
      current_version: Schema.Int,
      created_time: Schema.DateTimeUtcFromString,
      versions: Schema.Record(
        Schema.String,
        Schema.Struct({
          created_time: Schema.DateTimeUtcFromString,
          deletion_time: OptionalTime,
          destroyed: Schema.Boolean
        })
      )
    })
  })
)

const decodeList = Schema.decodeUnknownEffect(
  Schema.Struct({
    data: Schema.Struct({ keys: Schema.optionalKey(Schema.Array(Schema.String)) }),
    warnings: Schema.NullOr(Schema.NonEmptyArray(Schema.String))
  })
)

const unreadable = (operation: string) =>
  new SecretBackendUnavailable({ operation, reason: "its answer is not one of a key-value engine of version 2" })
