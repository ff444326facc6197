/**
 * Which content coding a client would have an answer in, by RFC 9110, section 12.5.3
 * (https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3).
 */
import * as Memo from "../Memo.ts"

/** The codings that answers come in. */
export type Coding = "br" | "gzip" | "identity"

/** The choice, and whether the client takes an answer as it is, too. */
export interface Choice {
  readonly coding: Coding
  readonly takesIdentity: boolean
}

const asItIs: Choice = { coding: "identity", takesIdentity: true }

/**
 * Chooses the coding of the highest quality; of equal ones Brotli before gzip before none. Members that break the grammar
 * are passed over. A client that takes nothing at all gets the answer as it is.
 */
export const choose = (header: string | undefined): Choice => (header === undefined ? asItIs : chosen(header))

const chosen = Memo.make((header: string): Choice => {
  const qualities = new Map<string, number>()
  for (const member of header.split(",")) {
    const [, name, quality] = form.exec(member) ?? []
    if (name !== undefined) qualities.set(name.toLowerCase(), quality === undefined ? 1 : Number(quality))
  }
  const others = qualities.get("*")
  const gzip = qualities.get("gzip") ?? qualities.get("x-gzip") ?? others ?? 0
  const br = qualities.get("br") ?? others ?? 0
  // What is not named is acceptable, but less so than what is.
  const identity = qualities.get("identity") ?? (others === 0 ? 0 : Number.MIN_VALUE)
  const best = Math.max(br, gzip, identity)
  const coding = best === 0 ? "identity" : br === best ? "br" : gzip === best ? "gzip" : "identity"
  return { coding, takesIdentity: identity > 0 }
})

const form = /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/i
