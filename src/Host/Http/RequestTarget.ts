/** The target of a request, `/orders?page=2`, in its parts. */

/** The path, without what follows it. */
export const pathOf = (url: string): string => {
  const end = url.search(/[?;#]/)
  return end < 0 ? url : url.slice(0, end)
}

/** The query, without its question mark; empty where there is none. */
export const queryOf = (url: string): string => {
  const start = url.indexOf("?")
  return start < 0 ? "" : url.slice(start + 1).split("#", 1)[0]!
}
