/**
 * Validation of a secret that code hands to a storage, by the same Schema that validates one that a request brings.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Base32 from "./Base32.ts"
import { seedOf } from "./OtpauthUri.ts"
import {
  Certificate,
  SecretInput,
  UsernamePassword,
  UsernamePasswordApiKey,
  UsernamePasswordTotpInput
} from "./Secret.ts"
import { SecretInvalid } from "./SecretStorageError.ts"
import type { SecretDocument } from "./SecretDocument.ts"
import * as SecretType from "./SecretType.ts"

const decoders: { readonly [Type in SecretType.SecretType]: (input: unknown) => Option.Option<SecretInput> } = {
  UsernamePassword: Schema.decodeUnknownOption(UsernamePassword),
  UsernamePasswordTotp: Schema.decodeUnknownOption(UsernamePasswordTotpInput),
  UsernamePasswordApiKey: Schema.decodeUnknownOption(UsernamePasswordApiKey),
  Certificate: Schema.decodeUnknownOption(Certificate)
}

const decodeAny = Schema.decodeUnknownResult(SecretInput, { errors: "all" })

/** Decodes a secret as it is exchanged and stored. */
export const decode = (input: unknown): Result.Result<SecretInput, Schema.SchemaError> => {
  // Nearly all are valid secrets of the type that they name, and that one's Schema knows sooner than the union does.
  const type = Predicate.hasProperty(input, "type") ? input.type : undefined
  const decoded = SecretType.isSecretType(type) ? decoders[type](input) : Option.none<SecretInput>()
  return Option.isSome(decoded) ? Result.succeed(decoded.value) : decodeAny(input)
}

/**
 * The secret in its stored form: what does not belong to a write is dropped and the seed normalized. Fails with every
 * invalid field.
 */
export const validate = (secret: SecretInput, totpPeriodInSeconds: number): Effect.Effect<SecretInput, SecretInvalid> =>
  decode(reveal(secret)).pipe(
    Result.mapError(({ issue }) => fields(issue)),
    Result.flatMap((secret) => Result.mapError(withPlainSeed(secret, totpPeriodInSeconds), Arr.of)),
    Result.mapError((issues) => new SecretInvalid({ issues })),
    Effect.fromResult
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

/**
 * A secret in its encoded form, with all values in the clear. That of a valid one is what its Schema would encode it to;
 * the checks of any other are left to {@link decode}, so that all faults are reported under the names of the fields.
 */
export const reveal = (secret: SecretInput | SecretDocument): object => revealed(secret) as object

const revealed = (value: unknown): unknown => {
  if (Redacted.isRedacted(value)) return Redacted.value(value)
  return Predicate.isObject(value) ? Record.map(value, revealed) : value
}
