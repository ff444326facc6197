/**
 * Which values of the configuration never appear in a message.
 */
import * as SecretNames from "../Logging/SecretNames.ts"
import type { Source } from "./Assignment.ts"

const secretName = /credential|access[-_]?key|connection[-_]?string/i

/** Whether the last part of a key looks like the name of a secret. */
export const isSecretName = (name: string): boolean => SecretNames.isSecretName(name) || secretName.test(name)

/** Switches, numbers, sizes and durations: no secret looks like one, save where any text may stand. */
const harmless =
  /^(?:true|false|yes|no|on|off|[-+]?\d+(?:\.\d+)?\s*(?:ms|s|m|h|d|(?:second|minute|hour|day)s?|[kmg]?i?b)?)$/i

/**
 * Whether a value may be shown although its key's name is that of a secret: where the Schema takes no text there
 * (`tokenLimit: 5`), and the value is none either. A text in the place of a number may be a secret at the wrong key.
 */
export const isHarmless = (text: string, shape: { readonly leaf: boolean; readonly text: boolean }): boolean =>
  shape.leaf && !shape.text && harmless.test(text)

/** Whether a source is one of the files that hold secrets. */
export const isSecretSource = (source: Source): boolean =>
  source._tag === "File" && /\.secrets\.(?:json|ya?ml)$/.test(source.path)

/**
 * A text without the user and the password of a URL in it, also where they are not written as they should be. Their length is
 * bounded so that a text of megabytes takes no time.
 */
export const withoutPassword = (text: string): string =>
  text
    .replace(/(?<!\/)\/\/[^\s@]{0,256}@/g, "//***@")
    .replace(/(^|[\s,"])[^\s:/@,"]{1,256}:(?!\/\/)[^\s@"]{0,256}@/g, "$1***@")

/**
 * A value that is not what it should be, without what may be a password: `user:password` looks like the beginning of a URL
 * without its scheme. A port is none.
 */
export const withoutUser = (text: string): string =>
  withoutPassword(text).replace(/^([^\s:/@[]+):(?!\/\/|\d{1,5}(?:[/?#,]|$))\S+/, "$1:***")

/** A value as a message may quote it: shortened, and without what may be a password. */
export const quote = (text: string): string => {
  const plain = withoutUser(text)
  return JSON.stringify(plain.length > 60 ? `${plain.slice(0, 60)}…` : plain)
}
