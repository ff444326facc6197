/**
 * What an error answer of the secret server means, in words that give nothing away.
 */
import type { Answer, Request } from "./SecretServerExchange.ts"

/** Whether an answer has a text like this among its errors. */
export const says = (answer: Answer, text: RegExp): boolean => answer.errors?.some((error) => text.test(error)) ?? false

/** Why a request was not fulfilled. */
export const reasonOf = (request: Request, answer: Answer): string => {
  if (says(answer, /\bsealed\b/i)) return "the server is sealed"
  if (says(answer, /no handler for route/i)) return `no engine is mounted that serves ${request.path}`
  if (answer.status === 501) return "the server is not initialised"
  if (answer.status === 429) return "the server has too many requests to answer (429)"
  // An error may quote what was sent: the text of one that answers a body stays here.
  const texts = request.body === undefined ? (answer.errors ?? []).join("; ") : ""
  const text = texts.replaceAll(/\s+/g, " ").slice(0, 200).trim()
  return text === "" ? `it answered ${answer.status}` : `it answered ${answer.status}: ${text}`
}
