/**
 * What the key-value engine keeps of a secret: all its fields but the seed.
 */
import * as Effect from "effect/Effect"
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
import { fields } from "./SecretInputValidation.ts"
import { SecretCorrupt } from "./SecretStorageError.ts"

/** A secret without its one-time password. */
export const SecretDocument = Schema.Union([
  UsernamePassword,
  UsernamePasswordTotp.mapFields(Struct.omit(["totp"])),
  UsernamePasswordApiKey,
  Certificate
])
export type SecretDocument = typeof SecretDocument.Type

const encodeDocument = Schema.encodeSync(SecretDocument)
const decodeDocument = Schema.decodeUnknownEffect(SecretDocument, { errors: "all" })

/** The document of a secret, with all values in the clear. */
export const encode = (secret: SecretInput | SecretDocument): object => {
  const { totp: _, ...document } = { totp: undefined, ...secret }
  return encodeDocument(document)
}

/** What {@link encode} made. */
export const decode = Effect.fnUntraced(function* (
  id: SecretId,
  data: unknown
): Effect.fn.Return<SecretDocument, SecretCorrupt> {
  const document = yield* Effect.mapError(decodeDocument(data), ({ issue }) => {
    const reason = fields(issue).map(({ field, message }) => `${field}: ${message}`)
    return new SecretCorrupt({ id: id.id, reason: reason.join("; ") })
  })
  if (document.type !== id.type) {
    return yield* new SecretCorrupt({ id: id.id, reason: `it is a ${document.type}, the id says ${id.type}` })
  }
  return document
})
