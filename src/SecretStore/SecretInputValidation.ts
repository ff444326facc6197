/**
 * Validation of a secret that code hands to a storage, by the same Schema that validates one that a request brings.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Base32 from "./Base32.ts"
import { seedOf } from "./OtpauthUri.ts"
import { SecretInput } from "./Secret.ts"
import { SecretInvalid } from "./SecretStorageError.ts"

const decode = Schema.decodeUnknownEffect(SecretInput, { errors: "all" })

/**
 * The secret in its stored form: what does not belong to a write is dropped and the seed normalized. Fails with every
 * invalid field.
 */
export const validate = (secret: SecretInput, totpPeriodInSeconds: number): Effect.Effect<SecretInput, SecretInvalid> =>
  decode(reveal(secret)).pipe(
    Effect.mapError(({ issue }) => fields(issue)),
    Effect.flatMap((secret) => Effect.fromResult(Result.mapError(withPlainSeed(secret, totpPeriodInSeconds), Arr.of))),
    Effect.mapError((issues) => new SecretInvalid({ issues }))
  )

/** A secret whose seed, if it has one, is Base32 text also where it came as an `otpauth://` URI. */
export const withPlainSeed = (secret: SecretInput, totpPeriodInSeconds: number): Result.Result<SecretInput, Field> => {
  if (secret.type !== "UsernamePasswordTotp") return Result.succeed(secret)
  return Result.mapBoth(seedOf(Redacted.value(secret.totp.totpKey.base32Key), totpPeriodInSeconds), {
    onFailure: (message) => ({ field: "totp.totpKey.base32Key", message }),
    onSuccess: (seed) => ({ ...secret, totp: { totpKey: { base32Key: Redacted.make(Base32.normalize(seed)) } } })
  })
}

/** What is wrong with a field. */
interface Field {
  readonly field: string
  readonly message: string
}

/** Every invalid field of a Schema issue, without any of the values. */
export const fields = (issue: SchemaIssue.Issue): ReadonlyArray<Field> =>
  format(issue).issues.map(({ path, message }) => ({ field: (path ?? []).map(String).join("."), message }))

// A Schema issue holds input only on request, which `decode` above does not make.
const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The encoded form, checks left to the decoding, so that all of them are reported under the names of the fields. */
const reveal = (value: unknown): unknown => {
  if (Redacted.isRedacted(value)) return Redacted.value(value)
  return Predicate.isObject(value) ? Record.map(value, reveal) : value
}
