/** Finds what the sources of a service make and export. */
import { globSync } from "node:fs"
import * as nodePath from "node:path"
import * as Listed from "./Listed.ts"
import * as Made from "./Made.ts"
import type { Value } from "./Resolver.ts"
import type { Found, Search } from "./Search.ts"
import type { SourceModule } from "./SourceModule.ts"

const isSource = (file: string): boolean => /\.m?ts$/.test(file) && !/\.(test|spec|d|generated)\.m?ts$/.test(file)

/** The service's own files: those below `src`, and those that it includes. */
const ownFiles = ({ exclusion, service: { contents, directory } }: Search): ReadonlyArray<string> => {
  const included = (contents.layerhost?.include ?? []).filter((entry) => entry.startsWith("./"))
  const patterns = ["src/**", ...included.map((entry) => entry.slice(2))]
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: directory, exclude: ["**/node_modules"] }))
  return [...new Set(files.map((file) => file.replaceAll("\\", "/")))]
    .filter((file) => isSource(file) && !exclusion.hasFile(file))
    .toSorted()
    .map((file) => nodePath.join(directory, file))
}

/**
 * What the service's own files make and export, by path: its plugins, and the health checks, middleware and sections that no
 * plugin lists.
 */
export const find = (search: Search): ReadonlyArray<Found> => {
  const { exclusion, resolver, service } = search
  const modules = relevant(search, ownFiles(search))
  const byPlace = new Map<string, Found>()
  for (const module of modules) {
    for (const name of module.exports.keys()) {
      const made = Made.ofExport(resolver, module, name)
      if (made === undefined || exclusion.hasFile(nodePath.relative(service.directory, made.file))) continue
      const place = Listed.placeOf(made)
      const former = byPlace.get(place)
      // Of several names, the first counts that stands where the thing is made.
      if (former !== undefined && (made.file !== module.file || isIn(former, module))) continue
      byPlace.set(place, { name, made, module: { file: module.file }, package: undefined })
    }
  }
  const found = [...byPlace.values()].toSorted(byPath)
  if (found.every(({ made }) => made.kind === "plugin")) return found
  const listed = Listed.find(resolver, modules)
  return found.filter(({ made }) => made.kind === "plugin" || !listed.has(Listed.placeOf(made)))
}

const isIn = ({ module }: Found, { file }: SourceModule): boolean => "file" in module && module.file === file

const byPath = (a: Found, b: Found): number => {
  const [left, right] = [a, b].map(({ module }) => ("file" in module ? module.file : ""))
  return left! < right! ? -1 : left! > right! ? 1 : a.made.offset - b.made.offset
}

/**
 * The modules that may make or name anything of layerhost's, parsed: those that mention it, those that import from one that
 * passes its names on, and those that take something from outside the searched files. Most modules of a large service are
 * none of these, and parsing is what takes time.
 */
const relevant = (
  { resolver, service, sources }: Search,
  files: ReadonlyArray<string>
): ReadonlyArray<SourceModule> => {
  const own = new Set(files)
  const modules = new Map<string, SourceModule>()
  const waiting = new Map<string, ReadonlySet<string>>()
  /** The modules that pass on names of layerhost's. */
  const barrels = new Set<string>()
  const passesOn = (module: SourceModule): boolean =>
    module.stars.some(({ specifier }) => {
      const target = resolver.target(module, specifier)
      return typeof target === "object" || barrels.has(target)
    }) || [...module.exports.keys()].some((name) => isForeign(resolver.export(module, name)))
  const add = (file: string) => {
    waiting.delete(file)
    const module = sources.module(file, service)
    if (module === undefined) return
    modules.set(file, module)
    if (passesOn(module)) barrels.add(file)
  }
  for (const file of files) {
    const text = sources.text(file) ?? ""
    const imported = new Set(Array.from(text.matchAll(localSpecifier), ([, specifier]) => place(file, specifier!)))
    if (mention.test(text) || [...imported].some((target) => !own.has(target))) add(file)
    else waiting.set(file, imported)
  }
  // A set is gone through with what is added on the way.
  for (const barrel of barrels) {
    for (const [file, imported] of waiting) if (imported.has(barrel)) add(file)
  }
  return [...modules.values()].toSorted((a, b) => (a.file < b.file ? -1 : 1))
}

const mention = /["']layerhost(\/Plugins)?["']/
const localSpecifier = /["']([.#][^"'\s]*)["']/g

/** The file that a specifier means, where it is a relative one to a source; otherwise something that is no such file. */
const place = (file: string, specifier: string): string =>
  specifier.startsWith(".") ? nodePath.join(nodePath.dirname(file), specifier.replace(/\.(m?)js$/, ".$1ts")) : specifier

/** Whether a value is of another package, or a whole module through which one may be reached. */
const isForeign = (value: Value | undefined): boolean => value?._tag === "External" || value?._tag === "Module"
