/**
 * The four types of secrets, with the numbers that stand for them in ids.
 */

/** The number of each type; it stands in ids, so it never changes. */
export const numbers = {
  UsernamePassword: 0,
  UsernamePasswordTotp: 1,
  UsernamePasswordApiKey: 2,
  Certificate: 3
} as const

/** The name of a type, which is also the `type` field of a secret. */
export type SecretType = keyof typeof numbers

/** All types, in the order of their numbers. */
export const all = Object.keys(numbers) as ReadonlyArray<SecretType> as readonly [SecretType, ...Array<SecretType>]

/** Whether a text names a type. */
export const isSecretType = (text: unknown): text is SecretType =>
  typeof text === "string" && Object.hasOwn(numbers, text)
