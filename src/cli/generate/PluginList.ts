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
 * puts these two ids, in this order, before all others: within the packages' plugins, and within the service's own.
 */
import * as Effect from "effect/Effect"
import { FileSystem } from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as nodePath from "node:path"
import * as GenerateError from "./GenerateError.ts"
import * as PackageJson from "./PackageJson.ts"
import * as PluginFinder from "./PluginFinder.ts"
import { render } from "./render.ts"

/** A list that could be written. */
export interface PluginList {
  readonly file: string
  readonly plugins: ReadonlyArray<PluginFinder.FoundPlugin>
  readonly text: string
  /** The command that writes it. */
  readonly command: string
}

/** A file that cannot be read or written is told like everything else that is wrong. */
const orGenerateError: <A, R>(
  effect: Effect.Effect<A, GenerateError.GenerateError | PlatformError, R>
) => Effect.Effect<A, GenerateError.GenerateError, R> = Effect.mapError((error) => GenerateError.merge([error]))

/** Finds the plugins of the service in a directory and renders their list. */
export const make = Effect.fn("PluginList.make")(function* (directory: string) {
  const service = yield* PackageJson.read(nodePath.resolve(directory))
  if (service === undefined) {
    return yield* GenerateError.at(
      nodePath.join(directory, "package.json"),
      undefined,
      "not found; it is what names the service's dependencies"
    )
  }
  const plugins = yield* order(service, unique(yield* PluginFinder.find(service)))
  yield* checkIds(plugins)
  const file = nodePath.join(service.directory, service.contents.layerhost?.output ?? "src/plugins.generated.ts")
  const list: PluginList = {
    file,
    plugins,
    text: render(plugins, file),
    command: ["layerhost generate", ...(directory === "." ? [] : [directory])].join(" ")
  }
  return list
}, orGenerateError)

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

/** A plugin that is exported under several names counts under its first. */
const unique = (plugins: ReadonlyArray<PluginFinder.FoundPlugin>): ReadonlyArray<PluginFinder.FoundPlugin> =>
  plugins.filter(
    ({ plugin: { file, offset } }, index) =>
      plugins.findIndex(({ plugin }) => plugin.file === file && plugin.offset === offset) === index
  )

const order = Effect.fnUntraced(function* (
  service: PackageJson.PackageJson,
  plugins: ReadonlyArray<PluginFinder.FoundPlugin>
) {
  const ids = service.contents.layerhost?.order ?? []
  const known = plugins.flatMap(({ plugin }) => plugin.id ?? [])
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
  const rank = ({ plugin: { id }, package: origin }: PluginFinder.FoundPlugin) => {
    const index = id === undefined ? -1 : ids.indexOf(id)
    return (origin === undefined ? ids.length + 1 : 0) + (index === -1 ? ids.length : index)
  }
  return plugins.toSorted((a, b) => rank(a) - rank(b))
})

const checkIds = Effect.fnUntraced(function* (plugins: ReadonlyArray<PluginFinder.FoundPlugin>) {
  const byId = Map.groupBy(
    plugins.flatMap(({ plugin }) => (plugin.id === undefined ? [] : plugin)),
    ({ id }) => id
  )
  const duplicates = [...byId.values()].flatMap(([first, ...others]) =>
    others.map(({ id, file, line }) =>
      GenerateError.at(
        file,
        line,
        `the id "${id}" is taken by the plugin in ${GenerateError.shown(first!.file)}:${first!.line}`
      )
    )
  )
  if (duplicates.length > 0) return yield* GenerateError.merge(duplicates)
})
