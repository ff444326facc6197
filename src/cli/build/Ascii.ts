/** JavaScript without characters beyond ASCII, of which a single one has the engine keep a whole file in twice the memory. */
import { parseSync, Visitor } from "oxc-parser"

/** The same program with escapes. What a function sees unescaped, the texts of tagged templates, stays as it is. */
export const encode = (code: string): string => {
  if (!beyond.test(code)) return code
  const raw: Array<readonly [start: number, end: number]> = []
  new Visitor({ TaggedTemplateExpression: ({ quasi }) => void raw.push([quasi.start, quasi.end]) }).visit(
    parseSync("module.js", code).program
  )
  return code.replace(escapable, (text, backslashes: string, unit: string, index: number) =>
    raw.some(([start, end]) => start <= index && index < end)
      ? text
      : `${backslashes}\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
}

const beyond = /[^\0-\x7f]/

/** With the backslashes before it, the last of which does nothing where their number is odd. */
const escapable = /((?:\\\\)*)\\?([^\0-\x7f])/g
