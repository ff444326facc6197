/** Which file of a package an import of one of its modules means. */
import * as Predicate from "effect/Predicate"
import type { PackageJson } from "./PackageJson.ts"

/** The conditions under which Node reads an `exports` map for an `import`. */
const conditions = new Set(["node", "import", "module-sync", "default"])

/**
 * The file, relative to the package's directory, that a module specifier stands for; `undefined` when the package is
 * another one or does not export the module.
 */
export const resolve = (contents: PackageJson["contents"], specifier: string): string | undefined => {
  const { name, main, exports } = contents
  if (name === undefined || (specifier !== name && !specifier.startsWith(`${name}/`))) return undefined
  const subpath = `.${specifier.slice(name.length)}`
  if (exports === undefined) return subpath === "." ? (main ?? "./index.js") : subpath
  const map = Predicate.isObject(exports) && Object.keys(exports)[0]?.startsWith(".") ? exports : { ".": exports }
  return target(map, subpath)
}

/** What a package's own modules mean by a specifier that begins with `#`: a file (`./…`) or another package's module. */
export const resolveImport = ({ imports }: PackageJson["contents"], specifier: string): string | undefined =>
  Predicate.isObject(imports) ? target(imports, specifier) : undefined

/** The exact entry, or else the pattern with the longest part before its `*`. */
const target = (map: Readonly<Record<string, unknown>>, subpath: string): string | undefined => {
  if (Object.hasOwn(map, subpath) && !subpath.includes("*")) return choose(map[subpath])
  const matches = Object.keys(map).flatMap((pattern) => {
    const [before, after, ...more] = pattern.split("*")
    return before === undefined || after === undefined || more.length > 0
      ? []
      : subpath.startsWith(before) && subpath.endsWith(after) && subpath.length >= pattern.length
        ? [{ pattern, before, filler: subpath.slice(before.length, subpath.length - after.length) }]
        : []
  })
  const best = matches.toSorted((a, b) => b.before.length - a.before.length)[0]
  return best && choose(map[best.pattern])?.replaceAll("*", best.filler)
}

/** Follows conditions and fallbacks to the first file. */
const choose = (entry: unknown): string | undefined => {
  if (typeof entry === "string") return entry
  if (Array.isArray(entry)) return first(entry, choose)
  if (!Predicate.isObject(entry)) return undefined
  return first(Object.entries(entry), ([condition, value]) => (conditions.has(condition) ? choose(value) : undefined))
}

const first = <A>(items: ReadonlyArray<A>, f: (item: A) => string | undefined): string | undefined => {
  for (const item of items) {
    const found = f(item)
    if (found !== undefined) return found
  }
  return undefined
}
