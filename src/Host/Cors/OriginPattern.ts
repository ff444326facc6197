/**
 * Origins as the configuration names them: `https://shop.example`, or `https://*.shop.example` for all below it.
 */
import * as Result from "effect/Result"

/** One origin, in the spelling that browsers send, or all origins below a domain. */
export type OriginPattern =
  | { readonly _tag: "Exact"; readonly origin: string }
  | { readonly _tag: "Subdomains"; readonly scheme: string; readonly suffix: string }

const form = /^([a-z][a-z0-9+.-]*:\/\/)(\*\.)?([^/?#@*\s]+)$/i

/** Reads an origin: a scheme and a host, and a port where it is not the scheme's own. */
export const parse = (text: string): Result.Result<OriginPattern, string> => {
  const [, scheme, wildcard, authority] = form.exec(text) ?? []
  const origin = authority === undefined ? undefined : serialize(`${scheme}${authority}`)
  if (origin === undefined) {
    return Result.fail(`${text} is not an origin such as https://shop.example, with neither path nor slash at its end`)
  }
  if (wildcard === undefined) return Result.succeed({ _tag: "Exact", origin })
  const prefix = scheme!.toLowerCase()
  return Result.succeed({ _tag: "Subdomains", scheme: prefix, suffix: `.${origin.slice(prefix.length)}` })
}

/** The origin as browsers write it: lower case, and no port that is the scheme's own. */
const serialize = (text: string): string | undefined => {
  const url = URL.parse(text)
  if (url === null) return undefined
  // Schemes that only apps and extensions have are left as they are.
  return url.origin === "null" ? text.toLowerCase() : url.origin
}

/** Compiles patterns into one test of the `Origin` that a browser sends. */
export const matcher = (patterns: ReadonlyArray<OriginPattern>): ((origin: string) => boolean) => {
  const exact = new Set(patterns.flatMap((pattern) => (pattern._tag === "Exact" ? [pattern.origin] : [])))
  const domains = patterns.flatMap((pattern) => (pattern._tag === "Subdomains" ? [pattern] : []))
  return (origin) => exact.has(origin) || domains.some((domain) => isBelow(origin, domain))
}

const isBelow = (origin: string, { scheme, suffix }: { readonly scheme: string; readonly suffix: string }): boolean =>
  origin.startsWith(scheme) &&
  origin.endsWith(suffix) &&
  /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(origin.slice(scheme.length, -suffix.length))
