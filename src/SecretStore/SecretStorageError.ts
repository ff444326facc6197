/**
 * What can go wrong with a secret: one error per thing that a caller handles differently. None of them holds a secret
 * value.
 */
import * as Schema from "effect/Schema"
import * as SecretType from "./SecretType.ts"

const Type = Schema.Literals(SecretType.all)

/** There is no secret with this id. */
export class SecretNotFound extends Schema.TaggedError<SecretNotFound>()("SecretNotFound", { id: Schema.String }) {
  override get message(): string {
    return `There is no secret with the id ${this.id}`
  }
}

/** What was given cannot be stored; nothing was written. Every invalid field is listed. */
export class SecretInvalid extends Schema.TaggedError<SecretInvalid>()("SecretInvalid", {
  issues: Schema.Array(Schema.Struct({ field: Schema.String, message: Schema.String }))
}) {
  override get message(): string {
    return `The secret is invalid: ${this.issues.map(({ field, message }) => `${field}: ${message}`).join("; ")}`
  }
}

/** An update would change the type of a secret, which its id fixes; nothing was written. */
export class SecretTypeMismatch extends Schema.TaggedError<SecretTypeMismatch>()("SecretTypeMismatch", {
  id: Schema.String,
  expected: Type,
  actual: Type
}) {
  override get message(): string {
    return `The secret ${this.id} is a ${this.expected} and cannot become a ${this.actual}`
  }
}

/** An update expected another version than the one that stands; nothing was written. Read the secret again, and decide anew. */
export class SecretVersionConflict extends Schema.TaggedError<SecretVersionConflict>()("SecretVersionConflict", {
  id: Schema.String,
  expected: Schema.Number,
  found: Schema.Int
}) {
  override get message(): string {
    return `The secret ${this.id} is at version ${this.found}, not ${this.expected}`
  }
}

/** The backend keeps no such version of a secret, or no longer; nothing was written. */
export class SecretVersionNotFound extends Schema.TaggedError<SecretVersionNotFound>()("SecretVersionNotFound", {
  id: Schema.String,
  version: Schema.Number
}) {
  override get message(): string {
    return `There is no version ${this.version} of the secret ${this.id}`
  }
}

/** The backend refused the service's own credentials. A retry does not help; another token may. */
export class SecretAccessDenied extends Schema.TaggedError<SecretAccessDenied>()("SecretAccessDenied", {
  operation: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The secret backend refused to ${this.operation}: ${this.reason}`
  }
}

/** The backend is away, sealed, timed out or cannot write. A later retry may help. */
export class SecretBackendUnavailable extends Schema.TaggedError<SecretBackendUnavailable>()(
  "SecretBackendUnavailable",
  {
    operation: Schema.String,
    reason: Schema.String,
    /** Whether it may be done all the same; absent where the backend does not say. */
    mayBeDone: Schema.optionalKey(Schema.Boolean)
  }
) {
  override get message(): string {
    return `The secret backend could not ${this.operation}: ${this.reason}`
  }
}

/** Something is stored under the id, but it does not decode to a secret of the id's type. */
export class SecretCorrupt extends Schema.TaggedError<SecretCorrupt>()("SecretCorrupt", {
  id: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `The stored secret ${this.id} does not decode: ${this.reason}`
  }
}

/** How any backend can fail. */
export type BackendError = SecretAccessDenied | SecretBackendUnavailable

/** How any operation can fail. */
export type SecretStorageError =
  | BackendError
  | SecretNotFound
  | SecretInvalid
  | SecretTypeMismatch
  | SecretVersionConflict
  | SecretVersionNotFound
  | SecretCorrupt
