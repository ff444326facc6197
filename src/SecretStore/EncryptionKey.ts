/**
 * Keys that encrypt local files: 32 bytes, written in base64.
 */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { createHash, createSecretKey, type KeyObject } from "node:crypto"

/** A key of AES-256. Node's key object shows its bytes to nobody who does not ask for them. */
export interface EncryptionKey {
  /** 16 hexadecimal digits, by which a file says what it is encrypted with. They tell nothing of the key. */
  readonly id: string
  readonly key: KeyObject
}

const expected = "32 bytes in base64, as `openssl rand -base64 32` makes them"

/** 43 digits carry 258 bits; the last two are zero. */
const pattern = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=?$/

/** Reads the text of a key; a failure says what was expected, and nothing of the text. */
export const parse = (text: Redacted.Redacted): Result.Result<EncryptionKey, string> => {
  const base64 = Redacted.value(text).trim()
  if (!pattern.test(base64)) return Result.fail(`Expected ${expected}`)
  const bytes = Buffer.from(base64, "base64")
  const id = createHash("sha256").update("layerhost/encryption-key/").update(bytes).digest("hex").slice(0, 16)
  return Result.succeed({ id, key: createSecretKey(bytes) })
}

/** The text of a key in a configuration section. */
export const EncryptionKeyText = Schema.RedactedFromValue(
  Schema.String.check(Schema.makeFilter((text: string) => pattern.test(text.trim()), { expected }))
)
