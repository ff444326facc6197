/**
 * What the key-value engine keeps of a secret: all its fields but the seed.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import {
  Certificate,
  type SecretInput,
  UsernamePassword,
  UsernamePasswordApiKey,
  UsernamePasswordTotp
} from "./Secret.ts"
import type { SecretId } from "./SecretId.ts"
import { fields, reveal } from "./SecretInputValidation.ts"
import { SecretCorrupt } from "./SecretStorageError.ts"
import type * as SecretType from "./SecretType.ts"

const UsernamePasswordTotpDocument = UsernamePasswordTotp.mapFields(Struct.omit(["totp"]))

/** A secret without its one-time password. */
export const SecretDocument = Schema.Union([
  UsernamePassword,
  UsernamePasswordTotpDocument,
  UsernamePasswordApiKey,
  Certificate
])
export type SecretDocument = typeof SecretDocument.Type

const decodeAny = Schema.decodeUnknownResult(SecretDocument, { errors: "all" })

const decoders: { readonly [Type in SecretType.SecretType]: (data: unknown) => Option.Option<SecretDocument> } = {
  UsernamePassword: Schema.decodeUnknownOption(UsernamePassword),
  UsernamePasswordTotp: Schema.decodeUnknownOption(UsernamePasswordTotpDocument),
  UsernamePasswordApiKey: Schema.decodeUnknownOption(UsernamePasswordApiKey),
  Certificate: Schema.decodeUnknownOption(Certificate)
}

/** The document of a secret, with all values in the clear. */
export const encode = (secret: SecretInput | SecretDocument): object => {
  const { totp: _, ...document } = { totp: undefined, ...secret }
  return reveal(document)
}

/** What {@link encode} made. */
export const decode = (id: SecretId, data: unknown): Effect.Effect<SecretDocument, SecretCorrupt> => {
  // Nearly all are what the id says, and that one's Schema knows sooner than the union does.
  const expected = decoders[id.type](data)
  if (Option.isSome(expected)) return Effect.succeed(expected.value)
  const corrupt = (reason: string) => Effect.fail(new SecretCorrupt({ id: id.id, reason }))
  const decoded = decodeAny(data)
  if (Result.isSuccess(decoded)) return corrupt(`it is a ${decoded.success.type}, the id says ${id.type}`)
  const reasons = fields(decoded.failure.issue).map(({ field, message }) => `${field}: ${message}`)
  return corrupt(reasons.join("; "))
}
