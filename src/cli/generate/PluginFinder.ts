/** Finds the plugins of a service: those of the packages that it installs, and those that its own sources export. */
import * as Effect from "effect/Effect"
import type { FileSystem } from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import { globSync } from "node:fs"
import * as nodePath from "node:path"
import * as Exclusion from "./Exclusion.ts"
import * as GenerateError from "./GenerateError.ts"
import * as Listed from "./Listed.ts"
import * as Made from "./Made.ts"
import * as PackageExports from "./PackageExports.ts"
import * as PackageJson from "./PackageJson.ts"
import { Resolver, type Value } from "./Resolver.ts"
import type { SourceModule } from "./SourceModule.ts"
import type { Sources } from "./Sources.ts"

/** A plugin, or a part that stands alone, and where the list has it from. */
export interface Found {
  /** The name that it is exported by. */
  readonly name: string
  readonly made: Made.Made
  /** A file of the service, or the specifier of a package's module. */
  readonly module: { readonly file: string } | { readonly specifier: string }
  /** The package that brought it; absent for the service's own. */
  readonly package: { readonly name: string; readonly version: string } | undefined
}

/**
 * The plugins of the packages among a service's dependencies, by the package's name, each behind those of the packages that
 * it includes; and those that the service's own files make and export, by path, with the health checks, middleware and
 * sections that are exported and that no plugin lists. Tests, declarations and generated files are left out.
 */
export const find = Effect.fnUntraced(function* (service: PackageJson.PackageJson, sources: Sources) {
  const resolver = new Resolver(sources)
  const exclusion = new Exclusion.Exclusion(service)
  const { failures, found } = yield* gather([
    findInstalled({ service, sources, resolver, exclusion }),
    Effect.sync(() => findOwn({ service, sources, resolver, exclusion }))
  ])
  const errors = [...failures, ...sources.problems.values()]
  if (errors.length > 0) return yield* GenerateError.sorted(GenerateError.merge(errors))
  const kept = found.filter((each) => !exclusion.hasId(each.made.id))
  const unused = exclusion.unused()
  if (unused.length > 0) return yield* GenerateError.merge(unused)
  return kept
})

interface Search {
  readonly service: PackageJson.PackageJson
  readonly sources: Sources
  readonly resolver: Resolver
  readonly exclusion: Exclusion.Exclusion
}

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

const findOwn = (search: Search): ReadonlyArray<Found> => {
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

type Failure = GenerateError.GenerateError | PlatformError
type Finding = Effect.Effect<ReadonlyArray<Found>, GenerateError.GenerateError | PlatformError, FileSystem>

/** The plugins of the packages that a service depends on or includes. */
const findInstalled = (search: Search): Finding => {
  const { contents } = search.service
  const included = (contents.layerhost?.include ?? []).filter((entry) => !entry.startsWith("./"))
  const names = new Set([
    ...Object.keys(contents.dependencies ?? {}),
    ...Object.keys(contents.optionalDependencies ?? {})
  ])
  const visited = new Set<string>()
  return collect([...new Set([...names, ...included])].toSorted(), (name) =>
    findPackage(search, {
      name,
      from: search.service,
      visited,
      field: included.includes(name) ? "layerhost" : "dependencies"
    })
  )
}

interface Visit {
  readonly name: string
  /** The package that names it, and the field in which it does. */
  readonly from: PackageJson.PackageJson
  readonly field: "dependencies" | "layerhost"
  /** The directories of the packages that were seen. */
  readonly visited: Set<string>
}

const findPackage = ({ ...search }: Search, { field, from, name, visited }: Visit): Finding =>
  Effect.gen(function* () {
    const { exclusion, service } = search
    if (exclusion.hasPackage(name)) return []
    const problem = (description: string) => GenerateError.at(from.file, from.lineOf(field, name), description)
    const installed = yield* PackageJson.find(name, from.directory)
    if (installed === undefined) {
      if (field === "dependencies" && Object.hasOwn(from.contents.optionalDependencies ?? {}, name)) return []
      return yield* problem(
        `the ${field === "dependencies" ? "dependency" : "included package"} "${name}" is not installed`
      )
    }
    if (visited.has(installed.directory)) return []
    visited.add(installed.directory)
    search.sources.directories.add(installed.directory)
    const { include = [], plugins = [] } = installed.contents.layerhost ?? {}
    // A service of the same workspace may include files of its own, which are not for others.
    const included = include.filter((entry) => !entry.startsWith("./"))
    if (field === "layerhost" && plugins.length + included.length === 0) {
      return yield* problem(`the included package "${name}" declares no plugins under "layerhost"`)
    }
    if (from !== service && plugins.length > 0) {
      const importable = yield* PackageJson.find(name, service.directory)
      if (importable?.directory !== installed.directory) {
        return yield* problem(
          `the included package "${name}" cannot be imported by the service: add it to the service's own dependencies`
        )
      }
    }
    const theirs = yield* collect(included, (other) =>
      findPackage(search, { name: other, from: installed, field: "layerhost", visited })
    )
    const own = yield* collect(plugins, (specifier) =>
      Effect.suspend(() => {
        const found = findDeclared(search, { ...installed, contents: { ...installed.contents, name } }, specifier)
        return found instanceof GenerateError.GenerateError ? found : Effect.succeed(found)
      })
    )
    return [...theirs, ...own]
  })

/** The plugins of a module that a package declares. */
const findDeclared = (
  { resolver, sources }: Search,
  installed: PackageJson.PackageJson,
  specifier: string
): ReadonlyArray<Found> | GenerateError.GenerateError => {
  const { contents, directory, file, lineOf } = installed
  const problem = (description: string) => GenerateError.at(file, lineOf("layerhost", specifier), description)
  const target = PackageExports.resolve(contents, specifier)
  if (target === undefined)
    return problem(`"${specifier}" is declared under "layerhost", but the package does not export it`)
  const entry = nodePath.join(directory, target)
  if (!sources.exists(entry)) return problem(`the module ${GenerateError.shown(entry)} does not exist`)
  const module = sources.module(entry, installed)
  // What is wrong with the module is among the problems already.
  if (module === undefined) return []
  const origin = { name: contents.name!, version: contents.version ?? "0.0.0" }
  const before = sources.problems.size
  const found = namesOf(module, { resolver, sources }).flatMap((name): ReadonlyArray<Found> => {
    const made = Made.ofExport(resolver, module, name)
    return made?.kind === "plugin" ? [{ name, made, module: { specifier }, package: origin }] : []
  })
  if (found.length > 0 || sources.problems.size > before) return found
  return problem(`"${specifier}" is declared under "layerhost", but exports no plugin`)
}

/** The names that a module of a package exports, those of the package's modules that it re-exports as a whole included. */
const namesOf = (
  module: SourceModule,
  search: Pick<Search, "resolver" | "sources">,
  seen = new Set<string>()
): ReadonlyArray<string> => {
  if (seen.has(module.file)) return []
  seen.add(module.file)
  const names = new Set<string>()
  const follow = ({ line, specifier }: { readonly specifier: string; readonly line: number }) => {
    const target = search.resolver.target(module, specifier)
    if (typeof target !== "string") return undefined
    if (search.sources.exists(target)) return search.sources.module(target, module.package)
    const problem = GenerateError.at(module.file, line, `the module ${GenerateError.shown(target)} does not exist`)
    search.sources.problems.set(`${module.file} ${line}`, problem)
    return undefined
  }
  for (const star of module.stars) {
    const target = follow(star)
    if (target === undefined) continue
    for (const name of namesOf(target, search, seen)) if (name !== "default") names.add(name)
  }
  for (const [name, exported] of module.exports) {
    names.add(name)
    if (typeof exported === "object" && "line" in exported) follow(exported)
  }
  return [...names]
}

/** What all find, and all their errors. */
const gather = Effect.fnUntraced(function* (findings: ReadonlyArray<Finding>) {
  const found: Array<Found> = []
  const failures: Array<Failure> = []
  for (const finding of findings) {
    yield* Effect.match(finding, {
      onSuccess: (some) => void found.push(...some),
      onFailure: (failure) => void failures.push(failure)
    })
  }
  return { found, failures }
})

/** What `f` finds for each item, in the items' order; or all their errors as one. */
const collect = <A>(items: ReadonlyArray<A>, f: (item: A) => Finding): Finding =>
  Effect.flatMap(gather(items.map(f)), ({ failures, found }) =>
    failures.length === 0 ? Effect.succeed(found) : GenerateError.merge(failures)
  )
