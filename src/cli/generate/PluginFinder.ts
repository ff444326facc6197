/** Finds the plugins of a service: those of the packages that it installs, and those that its own sources export. */
import * as Effect from "effect/Effect"
import { FileSystem } from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as nodePath from "node:path"
import * as GenerateError from "./GenerateError.ts"
import * as PackageExports from "./PackageExports.ts"
import * as PackageJson from "./PackageJson.ts"
import * as PluginModule from "./PluginModule.ts"

/** A plugin and where the list has it from. */
export interface FoundPlugin extends PluginModule.Export {
  /** A file of the service, or the specifier of a package's module. */
  readonly module: { readonly file: string } | { readonly specifier: string }
  /** The package that brought the plugin; absent for the service's own. */
  readonly package: { readonly name: string; readonly version: string } | undefined
}

/**
 * The plugins of the packages among a service's `dependencies`, by the package's name, and those that the service's own
 * `.ts` files under `src` make and export, by path. Tests, declarations and generated files are left out.
 */
export const find = (service: PackageJson.PackageJson) =>
  collect([findInstalled, findOwn], (findSome) => findSome(service))

const findOwn = Effect.fnUntraced(function* (service: PackageJson.PackageJson) {
  const fs = yield* FileSystem
  const source = nodePath.join(service.directory, "src")
  const entries = (yield* fs.exists(source)) ? yield* fs.readDirectory(source, { recursive: true }) : []
  const files = entries.filter((file) => file.endsWith(".ts") && !/\.(test|spec|d|generated)\.ts$/.test(file))
  return yield* collect(files.toSorted(), (entry) => {
    const file = nodePath.join(source, entry)
    return Effect.map(PluginModule.read(file, service.contents.name), ({ exports }) =>
      exports.map(({ name, plugin }): FoundPlugin => ({ name, plugin, module: { file }, package: undefined }))
    )
  })
})

const findInstalled = (service: PackageJson.PackageJson) =>
  collect(Object.keys(service.contents.dependencies ?? {}).toSorted(), (name) =>
    Effect.gen(function* () {
      const installed = yield* PackageJson.find(name, service.directory)
      if (installed === undefined) {
        return yield* GenerateError.at(
          service.file,
          service.lineOf("dependencies", name),
          `the dependency "${name}" is not installed`
        )
      }
      return yield* collect(installed.contents.layerhost?.plugins ?? [], (specifier) =>
        findDeclared(installed, name, specifier)
      )
    })
  )

/** The plugins of a module that a package declares. */
const findDeclared = Effect.fnUntraced(function* (
  { contents, directory, file, lineOf }: PackageJson.PackageJson,
  name: string,
  specifier: string
) {
  const line = lineOf("layerhost", specifier)
  const target = PackageExports.resolve({ ...contents, name }, specifier)
  if (target === undefined) {
    return yield* GenerateError.at(
      file,
      line,
      `"${specifier}" is declared under "layerhost", but the package does not export it`
    )
  }
  const exports = yield* exportsOf(nodePath.join(directory, target), { packageName: name, namedIn: { file, line } })
  if (exports.length === 0) {
    return yield* GenerateError.at(file, line, `"${specifier}" is declared under "layerhost", but exports no plugin`)
  }
  const origin = { name, version: contents.version ?? "0.0.0" }
  return exports.map(({ name, plugin }): FoundPlugin => ({ name, plugin, module: { specifier }, package: origin }))
})

interface Visit {
  readonly packageName: string
  /** Where the module is named, for when it is not there. */
  readonly namedIn: { readonly file: string; readonly line: number | undefined }
  /** The modules on the way here, so that a cycle ends. */
  readonly seen?: ReadonlyArray<string>
}

/**
 * The plugins that a package's module exports, its own and those of the package's other modules. What it re-exports of
 * another package is that package's to declare.
 */
const exportsOf = (
  file: string,
  { packageName, namedIn, seen = [] }: Visit
): Effect.Effect<ReadonlyArray<PluginModule.Export>, GenerateError.GenerateError | PlatformError, FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    if (seen.includes(file)) return []
    if (!(yield* fs.exists(file))) {
      return yield* GenerateError.at(
        namedIn.file,
        namedIn.line,
        `the module ${GenerateError.shown(file)} does not exist`
      )
    }
    const { exports, reExports } = yield* PluginModule.read(file, packageName)
    const inPackage = reExports.filter(({ specifier }) => specifier.startsWith("."))
    const others = yield* collect(inPackage, ({ specifier, names, line }) =>
      Effect.map(
        exportsOf(nodePath.resolve(nodePath.dirname(file), specifier), {
          packageName,
          namedIn: { file, line },
          seen: [...seen, file]
        }),
        (theirs) =>
          names === "all"
            ? theirs.filter(({ name }) => name !== "default")
            : names.flatMap(({ imported, exported }) =>
                theirs.filter(({ name }) => name === imported).map(({ plugin }) => ({ name: exported, plugin }))
              )
      )
    )
    return [...exports, ...others]
  })

/** What `f` finds for each item, in the items' order; or all their errors as one. */
const collect = <A, B, R>(
  items: ReadonlyArray<A>,
  f: (item: A) => Effect.Effect<ReadonlyArray<B>, GenerateError.GenerateError | PlatformError, R>
): Effect.Effect<ReadonlyArray<B>, GenerateError.GenerateError, R> =>
  Effect.validate(items, f, { concurrency: 8 }).pipe(
    Effect.mapBoth({ onSuccess: (found) => found.flat(), onFailure: GenerateError.merge })
  )
