/**
 * The list of a service's plugins, `plugins.generated.ts`: what it shall hold, and whether it does.
 *
 * The plugins of installed packages stand first, by package name, then the service's own, by path. Plugins see the
 * services of those before them; where that needs another order, the service's package.json gives it:
 *
 * ```json
 * { "layerhost": { "order": ["customers", "orders"] } }
 * ```
 *
 * puts these two ids, in this order, before all others: within the packages' plugins, and within the service's own. The
 * health checks, middleware and sections that no plugin lists come last, in a plugin of their own named `service`.
 */
import * as Effect from "effect/Effect"
import { FileSystem } from "effect/FileSystem"
import * as Option from "effect/Option"
import type { PlatformError } from "effect/PlatformError"
import * as nodePath from "node:path"
import * as GenerateError from "./GenerateError.ts"
import { placeOf } from "./Listed.ts"
import type { Made } from "./Made.ts"
import * as PackageJson from "./PackageJson.ts"
import * as PluginFinder from "./PluginFinder.ts"
import { render, serviceId } from "./render.ts"
import type { Found } from "./Search.ts"
import { Sources } from "./Sources.ts"

/** A list that could be written. */
export interface PluginList {
  readonly file: string
  readonly plugins: ReadonlyArray<Found>
  /** The health checks, middleware and sections of the service that no plugin lists. */
  readonly standAlone: ReadonlyArray<Found>
  readonly text: string
  /** The command that writes it. */
  readonly command: string
}

/** A file that cannot be read or written is told like everything else that is wrong. */
const orGenerateError: <A, R>(
  effect: Effect.Effect<A, GenerateError.GenerateError | PlatformError, R>
) => Effect.Effect<A, GenerateError.GenerateError, R> = Effect.mapError((error) => GenerateError.merge([error]))

/** Finds the plugins of the service in a directory and renders their list. `sources` keeps what was parsed before. */
export const make = Effect.fn("PluginList.make")(function* (directory: string, sources: Sources = new Sources()) {
  sources.begin()
  const service = yield* PackageJson.read(nodePath.resolve(directory))
  if (service === undefined) {
    return yield* GenerateError.at(
      nodePath.join(directory, "package.json"),
      undefined,
      "not found; it is what names the service's dependencies"
    )
  }
  const found = unique(yield* PluginFinder.find(service, sources))
  const plugins = yield* order(
    service,
    found.filter(({ made }) => made.kind === "plugin")
  )
  const standAlone = found.filter(({ made }) => made.kind !== "plugin")
  yield* checkIds(plugins, standAlone)
  const file = nodePath.join(service.directory, service.contents.layerhost?.output ?? "src/plugins.generated.ts")
  const list: PluginList = {
    file,
    plugins,
    standAlone,
    text: render({ plugins, standAlone, file }),
    command: ["layerhost generate", ...(directory === "." ? [] : [directory])].join(" ")
  }
  return list
}, orGenerateError)

/** One line on a list: `src/plugins.generated.ts: 2 plugins, 1 stand-alone health check`. */
export const summary = ({ file, plugins, standAlone }: PluginList): string =>
  `${GenerateError.shown(file)}: ${[
    count(plugins.length, "plugin"),
    ...Object.entries(kindNames).flatMap(([kind, name]) => {
      const { length } = standAlone.filter(({ made }) => made.kind === kind)
      return length === 0 ? [] : [count(length, `stand-alone ${name}`)]
    })
  ].join(", ")}`

const kindNames = { healthCheck: "health check", middleware: "middleware", section: "section" }

const count = (length: number, name: string): string =>
  `${length} ${length === 1 || name.endsWith("middleware") ? name : `${name}s`}`

/** The directories whose files the list of the last run was made from, or may be made from next time. */
export const watched = Effect.fn("PluginList.watched")(function* (directory: string, sources: Sources) {
  const fs = yield* FileSystem
  const service = nodePath.resolve(directory)
  const source = nodePath.join(service, "src")
  const below = yield* Effect.orElseSucceed(fs.readDirectory(source, { recursive: true }), () => [])
  const directories = yield* Effect.filter(
    below.map((path) => nodePath.join(source, path)),
    (path) => Effect.map(Effect.option(fs.stat(path)), (info) => Option.isSome(info) && info.value.type === "Directory")
  )
  return [...new Set([service, source, ...directories, ...sources.directories])]
})

/** Writes the list unless the very same stands there; true when it wrote. Readers see the old or the new list. */
export const write = Effect.fn("PluginList.write")(
  function* ({ file, text }: PluginList) {
    if ((yield* current(file)) === text) return false
    const fs = yield* FileSystem
    yield* fs.makeDirectory(nodePath.dirname(file), { recursive: true })
    const temporary = yield* fs.makeTempDirectoryScoped({ directory: nodePath.dirname(file), prefix: ".layerhost-" })
    const written = nodePath.join(temporary, nodePath.basename(file))
    yield* fs.writeFileString(written, text)
    yield* fs.rename(written, file)
    return true
  },
  Effect.scoped,
  orGenerateError
)

/** Fails with a `StaleError` unless the list stands there as it would be written. */
export const check = Effect.fn("PluginList.check")(function* ({ file, text, command }: PluginList) {
  const found = yield* current(file)
  if (found === text) return
  const reason = found === undefined ? "missing" : "stale"
  return yield* new GenerateError.StaleError({ file, reason, fix: command })
})

const current = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem
  return (yield* fs.exists(file)) ? yield* fs.readFileString(file) : undefined
}, orGenerateError)

/** What is exported under several names counts under its first. */
const unique = (found: ReadonlyArray<Found>): ReadonlyArray<Found> =>
  [...Map.groupBy(found, ({ made }) => placeOf(made)).values()].map(([first]) => first!)

const order = Effect.fnUntraced(function* (service: PackageJson.PackageJson, plugins: ReadonlyArray<Found>) {
  const ids = service.contents.layerhost?.order ?? []
  const known = plugins.flatMap(({ made }) => made.id ?? [])
  const unknown = ids.filter((id) => !known.includes(id))
  if (unknown.length > 0) {
    return yield* GenerateError.merge(
      unknown.map((id) =>
        GenerateError.at(
          service.file,
          service.lineOf("layerhost", id),
          `"order" names no plugin's id: "${id}"; the ids are ${known.map((it) => `"${it}"`).join(", ") || "none"}`
        )
      )
    )
  }
  const rank = ({ made: { id }, package: origin }: Found) => {
    const index = id === undefined ? -1 : ids.indexOf(id)
    return (origin === undefined ? ids.length + 1 : 0) + (index === -1 ? ids.length : index)
  }
  return plugins.toSorted((a, b) => rank(a) - rank(b))
})

const checkIds = Effect.fnUntraced(function* (plugins: ReadonlyArray<Found>, standAlone: ReadonlyArray<Found>) {
  const duplicates = [
    ...repeated(plugins, ({ id }) => id).map(([first, { id, file, line }]) =>
      GenerateError.at(file, line, `the id "${id}" is taken by the plugin in ${place(first)}`)
    ),
    // Names of checks and paths of sections are the same in any case.
    ...repeated(standAlone, ({ kind, id }) => id && `${kind} ${kind === "middleware" ? id : id.toLowerCase()}`).map(
      ([first, { id, kind, file, line }]) =>
        GenerateError.at(
          file,
          line,
          `the ${kind === "section" ? "path" : "name"} "${id}" is taken by that in ${place(first)}`
        )
    )
  ]
  const service = standAlone.length > 0 ? plugins.find(({ made }) => made.id === serviceId) : undefined
  if (service !== undefined) {
    const { file, line } = service.made
    const owner = `what stands alone, such as ${place(standAlone[0]!.made)}, belongs to a plugin of that name`
    duplicates.push(GenerateError.at(file, line, `the id "${serviceId}" is taken: ${owner}`))
  }
  if (duplicates.length > 0) return yield* GenerateError.merge(duplicates)
})

/** What has the key of something before it, with that. */
const repeated = (
  found: ReadonlyArray<Found>,
  key: (made: Made) => string | undefined
): ReadonlyArray<readonly [first: Made, other: Made]> => {
  const all = found.flatMap(({ made }) => (key(made) === undefined ? [] : made))
  return [...Map.groupBy(all, key).values()].flatMap(([first, ...others]) =>
    others.map((other) => [first!, other] as const)
  )
}

const place = ({ file, line }: Made): string => `${GenerateError.shown(file)}:${line}`
