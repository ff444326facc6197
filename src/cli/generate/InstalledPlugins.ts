/** Finds the plugins of the packages that a service installs and that declare some. */
import * as Effect from "effect/Effect"
import * as nodePath from "node:path"
import { collect, type Finding } from "./Finding.ts"
import * as GenerateError from "./GenerateError.ts"
import * as Made from "./Made.ts"
import * as PackageExports from "./PackageExports.ts"
import * as PackageJson from "./PackageJson.ts"
import type { Found, Search } from "./Search.ts"
import type { SourceModule } from "./SourceModule.ts"

/** The plugins of the packages that a service depends on or includes, by the package's name. */
export const find = (search: Search): Finding => {
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

const findPackage = (search: Search, { field, from, name, visited }: Visit): Finding =>
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
