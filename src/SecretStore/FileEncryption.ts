/**
 * Encryption of local files: AES-256-GCM, a random nonce for each write, and the place of the file as associated data, so
 * that a file that is copied to another secret's place does not open there.
 *
 * The encrypted file is JSON that names the version of the format and the key, so that old keys can still be read while the
 * files are encrypted again with a new one.
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import type { EncryptionKey } from "./EncryptionKey.ts"

/** Stands between the text of a secret and the content of its file. */
export interface FileEncryption {
  /** The content of a file. `place` names the secret. */
  readonly seal: (place: string, text: string) => string
  /** The text that was sealed at the place. */
  readonly open: (place: string, content: string) => Result.Result<string, Unopened>
  /** Whether a content is what {@link seal} would write today: with the current key, or plain where there is none. */
  readonly isCurrent: (content: string) => boolean
  /** The key that encrypts; `undefined` where files are plain. */
  readonly keyId: string | undefined
}

/** Why a content does not open. */
export interface Unopened {
  /** `refused` where other keys or settings would open it, so that nothing may be written over it; else it is broken. */
  readonly kind: "refused" | "broken"
  /** Ends the sentence "the file …". */
  readonly reason: string
}

const refused = (reason: string) => Result.fail<Unopened>({ kind: "refused", reason })

const broken = (reason: string): Unopened => ({ kind: "broken", reason })

/** How files are encrypted. */
export interface Options {
  /** Encrypts what is written. */
  readonly key: EncryptionKey
  /** Decrypt what was written before the key was changed. */
  readonly formerKeys?: ReadonlyArray<EncryptionKey>
  /**
   * Whether plain files are read as well, for a directory on its way to encryption; `false` when absent, since whoever can
   * write a plain file could otherwise plant a secret.
   */
  readonly acceptPlainFiles?: boolean
}

/** What the file of a secret is bound to: its directories and its key, which are all that an id is made of. */
export const placeOf = (file: ReadonlyArray<string>): string => file.join("/").replace(/\.json$/, "")

/** Files with all values in the clear. */
export const none: FileEncryption = {
  seal: (_, text) => text,
  open: (_, content) =>
    isEnvelope(content) ? refused("is encrypted, and there is no encryption key") : Result.succeed(content),
  isCurrent: (content) => !isEnvelope(content),
  keyId: undefined
}

/** Encrypted files. */
export const make = ({ acceptPlainFiles = false, formerKeys = [], key }: Options): FileEncryption => {
  const keys = [key, ...formerKeys]
  return {
    seal: (place, text) => seal(key, place, text),
    open: (place, content) => {
      if (!isEnvelope(content)) {
        return acceptPlainFiles
          ? Result.succeed(content)
          : refused("is not encrypted, and secretstore:acceptPlainFiles is not set")
      }
      const envelope = decodeEnvelope(content)
      if (Option.isNone(envelope)) return Result.fail(broken("is not in a known format of encrypted files"))
      const found = keys.find(({ id }) => id === envelope.value.keyId)
      return found === undefined
        ? refused(
            `is encrypted with the key ${envelope.value.keyId}, and the keys at hand are ${keys.map(({ id }) => id).join(", ")}`
          )
        : Result.fromOption(unseal(found, place, envelope.value), () =>
            broken("was changed, or belongs to another secret")
          )
    },
    isCurrent: (content) => Option.exists(decodeEnvelope(content), ({ keyId }) => keyId === key.id),
    keyId: key.id
  }
}

const format = "layerhost/encrypted-secret"

const Envelope = Schema.Struct({
  format: Schema.Literal(format),
  version: Schema.Literal(1),
  keyId: Schema.String,
  nonce: Schema.Uint8ArrayFromBase64,
  /** The text, encrypted, with the tag of 16 bytes at its end. */
  data: Schema.Uint8ArrayFromBase64
})

const EnvelopeText = Schema.fromJsonString(Envelope)
const encodeEnvelope = Schema.encodeSync(EnvelopeText)
const decodeEnvelope = Schema.decodeUnknownOption(EnvelopeText)

/** No plain secret begins so: its first field is another. */
const isEnvelope = (content: string): boolean => content.startsWith(envelopeStart)

const envelopeStart = `{"format":"${format}"`

const algorithm = "aes-256-gcm"
const tagLength = 16

/** The header belongs to what is authenticated. */
const associated = (key: EncryptionKey, place: string): Buffer => Buffer.from(`${format}/1/${key.id}/${place}`)

const seal = (key: EncryptionKey, place: string, text: string): string => {
  const nonce = randomBytes(12)
  const cipher = createCipheriv(algorithm, key.key, nonce, { authTagLength: tagLength })
  cipher.setAAD(associated(key, place))
  const data = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()])
  return encodeEnvelope({ format, version: 1, keyId: key.id, nonce, data })
}

const unseal = (key: EncryptionKey, place: string, { data, nonce }: typeof Envelope.Type): Option.Option<string> => {
  if (nonce.length !== 12 || data.length < tagLength) return Option.none()
  const decipher = createDecipheriv(algorithm, key.key, nonce, { authTagLength: tagLength })
  decipher.setAAD(associated(key, place))
  decipher.setAuthTag(data.subarray(-tagLength))
  const text = decipher.update(data.subarray(0, -tagLength))
  return Option.liftThrowable(() => Buffer.concat([text, decipher.final()]).toString("utf8"))()
}
