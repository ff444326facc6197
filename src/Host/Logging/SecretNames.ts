/** Names that say that their value is a secret. */

import * as Memo from "../Memo.ts"

/** What stands in the log in the place of a secret. */
export const redacted = "<redacted>"

const secret = /passw|pwd|passphrase|secret(?!store)|token|api[-_. ]?key|private[-_. ]?key|authorization|cookie|seed/i

/** What a name may say of a secret without being one; `secret.*` are the attributes of the storage's spans. */
const harmless = /^secret\.(?:bucket|key|type)$|(?:count|length)$/i

/**
 * Whether the value of a property of this name must not be shown: `password`, `accessToken`, `x-api-key`, `Set-Cookie`.
 * When in doubt it must not.
 */
export const isSecretName = Memo.make((name: string): boolean => secret.test(name) && !harmless.test(name))

/** The URL without its user's password and without the values of query parameters with secret names. */
export const maskUrl = (url: URL): string => {
  const masked = new URL(url)
  if (masked.password !== "") masked.password = "redacted"
  masked.search = maskQuery(masked.search)
  return masked.href
}

/** A query, with or without its `?`, without the values of parameters with secret names; all else is as it was. */
export const maskQuery = (query: string): string =>
  query.replaceAll(/([^?&=]+)=([^&]+)/g, (parameter, name: string) =>
    isSecretParameter(name) ? `${name}=redacted` : parameter
  )

const isSecretParameter = (name: string): boolean => {
  try {
    return isSecretName(decodeURIComponent(name.replaceAll("+", " ")))
  } catch {
    // A name that cannot be read may be any.
    return true
  }
}
