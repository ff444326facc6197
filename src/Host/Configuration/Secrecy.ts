/**
 * Which values of the configuration never appear in a message.
 */
import * as SecretNames from "../Logging/SecretNames.ts"
import type { Source } from "./Assignment.ts"

const secretName = /credential|access[-_]?key|connection[-_]?string/i

/** Whether the last part of a key looks like the name of a secret. */
export const isSecretName = (name: string): boolean => SecretNames.isSecretName(name) || secretName.test(name)

/** Whether a source is one of the files that hold secrets. */
export const isSecretSource = (source: Source): boolean =>
  source._tag === "File" && /\.secrets\.(?:json|ya?ml)$/.test(source.path)

/** A text without the password of a URL in it. */
export const withoutPassword = (text: string): string => text.replace(/\/\/[^/@\s]*@/g, "//***@")

/** A value as a message may quote it: shortened, and without the password of a URL. */
export const quote = (text: string): string => {
  const plain = withoutPassword(text)
  return JSON.stringify(plain.length > 60 ? `${plain.slice(0, 60)}…` : plain)
}
