/**
 * Validation of a secret that code hands to a storage, by the same Schema that validates one that a request brings.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { SecretInput } from "./Secret.ts"
import { SecretInvalid } from "./SecretStorageError.ts"

const decode = Schema.decodeUnknownEffect(SecretInput, { errors: "all" })

/**
 * The secret in its stored form: what does not belong to a write is dropped and the seed normalized. Fails with every
 * invalid field.
 */
export const validate = (secret: SecretInput): Effect.Effect<SecretInput, SecretInvalid> =>
  Effect.mapError(decode(reveal(secret)), ({ issue }) => new SecretInvalid({ issues: fields(issue) }))

/** Every invalid field of a Schema issue, without any of the values. */
export const fields = (issue: SchemaIssue.Issue): ReadonlyArray<{ readonly field: string; readonly message: string }> =>
  format(issue).issues.map(({ path, message }) => ({ field: (path ?? []).map(String).join("."), message }))

// A Schema issue holds input only on request, which `decode` above does not make.
const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The encoded form, checks left to the decoding, so that all of them are reported under the names of the fields. */
const reveal = (value: unknown): unknown => {
  if (Redacted.isRedacted(value)) return Redacted.value(value)
  return Predicate.isObject(value) ? Record.map(value, reveal) : value
}
