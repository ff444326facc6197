/**
 * What proxies say of the requests that they pass on, one entry for each of them; the last is the nearest proxy's.
 */

/** By their names in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>

/** The entries of each kind. Not every proxy adds to every list. */
export interface HeaderLists {
  readonly for: ReadonlyArray<string>
  readonly proto: ReadonlyArray<string>
  readonly host: ReadonlyArray<string>
}

const none: HeaderLists = { for: [], proto: [], host: [] }

/** Reads `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host`. */
export const xForwarded = (headers: Headers): HeaderLists => {
  const { "x-forwarded-for": clients, "x-forwarded-proto": protocols, "x-forwarded-host": hosts } = headers
  if (clients === undefined && protocols === undefined && hosts === undefined) return none
  return { for: split(clients), proto: split(protocols), host: split(hosts) }
}

const split = (list: string | undefined): ReadonlyArray<string> => {
  if (list === undefined) return []
  if (!list.includes(",")) return list.trim() === "" ? [] : [list.trim()]
  return list
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
}

/** One parameter with what comes behind it. Only a quoted value may hold a separator; many leave the quotes out elsewhere. */
const parameter = /\s*(?:([\w!#$%&'*+.^`|~-]+)=([^\s;,"]+|"(?:[^"\\]|\\.)*")\s*)?(;|,|$)/y

/**
 * Reads `Forwarded` (RFC 7239, https://www.rfc-editor.org/rfc/rfc7239). A header that breaks its grammar anywhere says
 * nothing: behind a stray quote, what the client wrote and what a proxy added cannot be told apart.
 */
export const forwarded = (headers: Headers): HeaderLists => {
  const text = headers["forwarded"]
  if (text === undefined) return none
  const lists = { for: [""], proto: [""], host: [""] }
  let position = 0
  for (;;) {
    parameter.lastIndex = position
    const match = parameter.exec(text)
    if (match === null) return none
    const [whole, name = "", value = "", separator] = match
    const list = lists[name.toLowerCase() as keyof HeaderLists]
    if (Array.isArray(list)) list[list.length - 1] = unquote(value)
    if (separator === ",") for (const each of Object.values(lists)) each.push("")
    position += whole.length
    if (separator === "") return lists
  }
}

const unquote = (value: string): string => (value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/gs, "$1") : value)
