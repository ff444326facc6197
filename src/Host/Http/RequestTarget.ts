/** The target of a request, `/orders?page=2`, in its parts. */

/** The path, without what follows it. */
export const pathOf = (url: string): string => {
  for (let i = 0; i < url.length; i++) {
    const code = url.charCodeAt(i)
    if (code === questionMark || code === semicolon || code === hash) return url.slice(0, i)
  }
  return url
}

const questionMark = 0x3f
const semicolon = 0x3b
const hash = 0x23

/** The query, without its question mark; empty where there is none. */
export const queryOf = (url: string): string => {
  const start = url.indexOf("?")
  return start < 0 ? "" : url.slice(start + 1).split("#", 1)[0]!
}
