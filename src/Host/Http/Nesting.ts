/**
 * How deeply a body may nest, and how many values it may have: what parses and checks values goes down a level for each of theirs, and a few megabytes of
 * brackets would keep it busy for seconds.
 */

/** More levels than a sensible document has, and less than the stack bears. */
export const maxDepth = 256

/** What a body that nests more deeply is told. */
export const tooDeep = `Expected at most ${maxDepth} levels`

/** Whether a JSON text has more levels than it may. It looks at brackets alone, so that it costs little beside the parser. */
export const isTooDeep = (json: string): boolean => {
  // Most have fewer brackets in all, which is told faster than which of them are open.
  if (countOf("{", json) + countOf("[", json) <= maxDepth) return false
  let depth = 0
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index)
    if (code === quote) index = endOfString(json, index)
    else if (code === openBracket || code === openBrace) {
      if (++depth > maxDepth) return true
    } else if (code === closeBracket || code === closeBrace) depth--
  }
  return false
}

/**
 * Whether a JSON text has more values than it may: to check each costs microseconds, and millions fit into a few megabytes.
 * Each value but the first follows a comma, or the bracket or brace that opens what it is the first of; something empty counts twice. A short text is not
 * looked at.
 */
export const hasTooManyValues = (json: string, limit: number): boolean => {
  if (json.length <= limit) return false
  let count = 1
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index)
    if (code === quote) index = endOfString(json, index)
    else if ((code === comma || code === openBracket || code === openBrace) && ++count > limit) return true
  }
  return false
}

/** How often a bracket occurs, counted as far as it matters. */
const countOf = (bracket: string, json: string): number => {
  let count = 0
  let index = json.indexOf(bracket)
  while (index >= 0 && ++count <= maxDepth) index = json.indexOf(bracket, index + 1)
  return count
}

const endOfString = (json: string, start: number): number => {
  let end = json.indexOf('"', start + 1)
  while (end >= 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end < 0 ? json.length : end
}

/** An odd number of backslashes stands before it. */
const isEscaped = (json: string, index: number): boolean => {
  let first = index
  while (json.charCodeAt(first - 1) === backslash) first--
  return (index - first) % 2 === 1
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
