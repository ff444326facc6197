/**
 * Endpoints as rules and white lists name them, `verb:/path` with wildcards, and the endpoints of requests.
 */
import * as Result from "effect/Result"
import { http } from "../Http/NodeHttp.ts"

/** Which endpoints are meant. The pattern `*` alone means all. */
export interface EndpointPattern {
  /** In lower case; absent for any. */
  readonly verb: string | undefined
  /** Absent for any. */
  readonly path: string | undefined
  /** Whether the path holds wildcards: `*` for any text, slashes included, and `?` for one character. */
  readonly isWild: boolean
}

const verbs = new Set(http.METHODS.map((method) => method.toLowerCase()))

/** Reads `*`, `verb:/path` or `*:/path`. Neither case nor a slash at the end matters. */
export const parsePattern = (text: string): Result.Result<EndpointPattern, string> => {
  if (text === "*") return Result.succeed({ verb: undefined, path: undefined, isWild: false })
  const colon = text.indexOf(":")
  const verb = text.slice(0, colon).toLowerCase()
  const path = text.slice(colon + 1)
  if (colon < 0 || !/^[/*]/.test(path)) {
    return Result.fail(`${text} is not an endpoint: *, or a verb or * and a path as in get:/api/values`)
  }
  if (verb !== "*" && !verbs.has(verb)) return Result.fail(`${text} does not begin with an HTTP verb or *`)
  const normal = normalPath(path)
  return Result.succeed({
    verb: verb === "*" ? undefined : verb,
    path: normal === "*" || normal === "/*" ? undefined : normal,
    isWild: /[*?]/.test(normal)
  })
}

/** Whether a pattern means an endpoint, given its verb and its path as {@link verbOf} and {@link pathOf} make them. */
export const matches = (pattern: EndpointPattern, verb: string, path: string): boolean =>
  (pattern.verb === undefined || pattern.verb === verb) &&
  (pattern.path === undefined || (pattern.isWild ? matchesWild(pattern.path, path) : pattern.path === path))

/**
 * Matches wildcards from left to right. Where the text and the pattern part, the last `*` takes one character more: an
 * earlier one need not, since whatever it could take the last one can.
 */
const matchesWild = (pattern: string, text: string): boolean => {
  let p = 0
  let t = 0
  let star = -1
  let taken = 0
  while (t < text.length) {
    const code = pattern.charCodeAt(p)
    if (code === asterisk) {
      star = p++
      taken = t
    } else if (code === questionMark || code === text.charCodeAt(t)) {
      p++
      t++
    } else if (star >= 0) {
      p = star + 1
      t = ++taken
    } else return false
  }
  while (pattern.charCodeAt(p) === asterisk) p++
  return p === pattern.length
}

const asterisk = 0x2a
const questionMark = 0x3f

/** The verb of a request's endpoint. */
export const verbOf = (method: string): string => method.toLowerCase()

/**
 * The path of a request's endpoint, from the target in its request line. It is what the router goes by, in lower case:
 * every spelling that leads to the same route (`//a/%62/;x=1?y`) is the same endpoint, so that none evades a rule.
 */
export const pathOf = (target: string): string => {
  if (!unusual.test(target)) return target
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "")
  return normalPath(path.replace(/[?;#].*$/s, ""))
}

/** What a path in its plain spelling has none of: queries, escapes, capitals, slashes doubled or at the end, an origin. */
const unusual = /[?;#%A-Z\u0080-\uffff]|\/\/|.\/$|^[^/]/

const normalPath = (path: string): string => {
  const plain = decode(path).toLowerCase().replace(/\/+/g, "/")
  return plain.length > 1 && plain.endsWith("/") ? plain.slice(0, -1) : plain || "/"
}

const decode = (path: string): string => {
  if (!path.includes("%")) return path
  try {
    return decodeURI(path)
  } catch {
    // Not valid, so that no route has it either.
    return path
  }
}
