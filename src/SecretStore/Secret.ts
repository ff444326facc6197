/**
 * The four secrets as Schemas. Their encoded side is the JSON that a service exchanges; on the decoded side every secret
 * value is `Redacted`.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SecretType from "./SecretType.ts"
import { Totp, TotpInput } from "./Totp.ts"

const SecretText = Schema.RedactedFromValue(Schema.NonEmptyString)

/** Something between the BEGIN and END lines of one label. No regular expression: it would be quadratic in the length. */
const looksLikePem = (text: string): boolean => {
  const label = /-----BEGIN ([A-Z0-9 ]{1,64})-----/.exec(text)
  if (label === null) return false
  const start = label.index + label[0].length
  const end = text.indexOf(`-----END ${label[1]}-----`, start)
  return end >= 0 && text.slice(start, end).trim() !== ""
}

const Pem = Schema.String.check(
  Schema.makeFilter(looksLikePem, { expected: "PEM text, from a -----BEGIN …----- line to its -----END …----- line" })
)

const login = { username: Schema.NonEmptyString, password: SecretText }

/** A name and a password. */
export const UsernamePassword = Schema.Struct({ type: Schema.tag("UsernamePassword"), ...login }).annotate({
  identifier: "UsernamePassword"
})
export type UsernamePassword = typeof UsernamePassword.Type

/** A name and a password with an API key. */
export const UsernamePasswordApiKey = Schema.Struct({
  type: Schema.tag("UsernamePasswordApiKey"),
  ...login,
  apiKey: SecretText
}).annotate({ identifier: "UsernamePasswordApiKey" })
export type UsernamePasswordApiKey = typeof UsernamePasswordApiKey.Type

/** A certificate in PEM, with the passphrase of its key when it has one. */
export const Certificate = Schema.Struct({
  type: Schema.tag("Certificate"),
  certificate: Schema.RedactedFromValue(Pem),
  passphrase: Schema.optionalKey(SecretText)
}).annotate({ identifier: "Certificate" })
export type Certificate = typeof Certificate.Type

/** A name and a password with a one-time password, as it is read: with the current code. */
export const UsernamePasswordTotp = Schema.Struct({
  type: Schema.tag("UsernamePasswordTotp"),
  ...login,
  totp: Totp
}).annotate({ identifier: "UsernamePasswordTotp" })
export type UsernamePasswordTotp = typeof UsernamePasswordTotp.Type

/** A name and a password with a one-time password, as it is written: with the seed. */
export const UsernamePasswordTotpInput = Schema.Struct({
  type: Schema.tag("UsernamePasswordTotp"),
  ...login,
  totp: TotpInput
}).annotate({ identifier: "UsernamePasswordTotpInput" })
export type UsernamePasswordTotpInput = typeof UsernamePasswordTotpInput.Type

/** A secret as it is read. */
export const Secret = Schema.Union([UsernamePassword, UsernamePasswordTotp, UsernamePasswordApiKey, Certificate])
export type Secret = typeof Secret.Type

/** A secret as it is written. */
export const SecretInput = Schema.Union([
  UsernamePassword,
  UsernamePasswordTotpInput,
  UsernamePasswordApiKey,
  Certificate
]).pipe(
  // A union only says that no member fits. The caller wants to hear which field decides that.
  Schema.middlewareDecoding((decoded) =>
    Effect.mapErrorEager(decoded, (issue) =>
      issue._tag === "AnyOf" && issue.issues.length === 0 ? new SchemaIssue.Pointer(["type"], unknownType) : issue
    )
  )
)
export type SecretInput = typeof SecretInput.Type

const unknownType = new SchemaIssue.InvalidValue({ message: `Expected one of ${SecretType.all.join(", ")}` })
