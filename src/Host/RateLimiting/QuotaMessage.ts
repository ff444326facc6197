/**
 * What a refused client is told, with the numbers of the rule that refused it.
 */
import * as Result from "effect/Result"

/** Makes the text from the limit, the period and the seconds to wait. */
export type QuotaMessage = (limit: number, period: string, retryAfter: number) => string

/**
 * Reads a text with the places `{0}` (the limit), `{1}` (the period) and `{2}` (the seconds to wait); `{{` and `}}` stand
 * for braces.
 */
export const parse = (text: string): Result.Result<QuotaMessage, string> => {
  const parts = text.split(/(\{\{|\}\}|\{[012]\}|[{}])/)
  if (parts.some((part) => part === "{" || part === "}")) {
    return Result.fail("a brace stands alone: {0}, {1} and {2} are places, {{ and }} are braces")
  }
  return Result.succeed((limit, period, retryAfter) =>
    parts
      .map((part) => {
        switch (part) {
          case "{{":
            return "{"
          case "}}":
            return "}"
          case "{0}":
            return String(limit)
          case "{1}":
            return period
          case "{2}":
            return String(retryAfter)
          default:
            return part
        }
      })
      .join("")
  )
}
