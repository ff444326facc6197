/**
 * Base32 as RFC 4648 defines it, in the form in which people copy TOTP seeds: padding is optional, spaces and lower case
 * do no harm.
 */
import * as Option from "effect/Option"

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

/** Removes white space and padding, and makes letters upper case. */
export const normalize = (text: string): string => text.replaceAll(/\s/g, "").replace(/=+$/, "").toUpperCase()

/** The bytes that a text stands for; `None` when it is blank or not Base32. */
export const decode = (text: string): Option.Option<Uint8Array> => {
  const digits = normalize(text)
  const bytes = new Uint8Array(Math.floor((digits.length * 5) / 8))
  // Groups of 1, 3 and 6 digits end in the middle of a byte.
  if (bytes.length === 0 || [1, 3, 6].includes(digits.length % 8)) return Option.none()
  let buffer = 0
  let bits = 0
  let length = 0
  for (const digit of digits) {
    const value = alphabet.indexOf(digit)
    if (value < 0) return Option.none()
    buffer = ((buffer << 5) | value) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes[length++] = (buffer >> bits) & 0xff
    }
  }
  return Option.some(bytes)
}
