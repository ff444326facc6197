/**
 * Characters that could make one line look like two, or drive a terminal, written as what they are.
 */

/** Controls, line and paragraph separators, and what turns the direction of text. JSON escapes those below space itself. */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u
const allUnsafe = new RegExp(unsafe, "gu")

/** The text with each such character as a JSON escape: `\n`, `\u001b`. */
export const escapeControls = (text: string): string =>
  unsafe.test(text) ? text.replaceAll(allUnsafe, escapeOne) : text

const escapeOne = (character: string): string => {
  const json = JSON.stringify(character)
  return json.length > 3 ? json.slice(1, -1) : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
}

/** A text in double quotes, as JSON writes it, with every such character escaped. */
export const quote = (text: string): string => (plain.test(text) ? `"${text}"` : escapeControls(JSON.stringify(text)))

/** What stands in quotes as it is; nearly all names and values are of this kind. */
const plain = /^[ !#-[\]-~]*$/
