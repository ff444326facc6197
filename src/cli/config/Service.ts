/**
 * A service as the command sees it: its plugins, their sections and its configuration, while nothing runs.
 */
import * as Effect from "effect/Effect"
import { FileSystem } from "effect/FileSystem"
import * as Stdio from "effect/Stdio"
import { existsSync } from "node:fs"
import * as nodePath from "node:path"
import { pathToFileURL } from "node:url"
import * as Configuration from "../../Host/Configuration/Configuration.ts"
import { decode, type OwnedSection } from "../../Host/Configuration/Decode.ts"
import { hostSections } from "../../Host/HostConfiguration.ts"
import type * as Plugin from "../../Plugins/Plugin.ts"
import * as PackageJson from "../generate/PackageJson.ts"
import { CommandError } from "../CommandError.ts"

/** What every command is told of the service. */
export interface ServiceOptions {
  /** The arguments without a name, those behind `--` included. */
  readonly operands: ReadonlyArray<string>
  /** The module that exports the plugins, where it is not the generated list. */
  readonly plugins: string | undefined
}

/** The arguments without a name that are the command's own, and those behind `--`, which are the service's. */
export const split = Effect.fnUntraced(function* (operands: ReadonlyArray<string>) {
  const typed = yield* Effect.flatMap(Stdio.Stdio, ({ args }) => args)
  const end = typed.indexOf("--")
  const args = end < 0 ? [] : typed.slice(end + 1)
  return { own: operands.slice(0, Math.max(0, operands.length - args.length)), args }
})

/** The service's directory, and the arguments that are the service's own. */
export const place = Effect.fnUntraced(function* (operands: ReadonlyArray<string>) {
  const { args, own } = yield* split(operands)
  const [directory = ".", extra] = own
  if (extra === undefined) return { directory: nodePath.resolve(directory), args }
  return yield* new CommandError({
    message: `"${extra}" is one argument too many; arguments of the service itself stand behind --`
  })
})

/** The plugins of the service with the module that exports them; importing plugins starts nothing. */
export const plugins = Effect.fn("Service.plugins")(function* (directory: string, module: string | undefined) {
  const file = module === undefined ? yield* generatedList(directory) : yield* namedModule(module)
  const plugins = pluginsOf(yield* load(file))
  if (plugins === undefined) {
    return yield* new CommandError({
      message: `${shown(file)} exports no plugins: export them as a list named plugins, or name another module with --plugins`
    })
  }
  return { file, plugins }
})

/** The sections of the host and of all plugins of the service. */
export const sections = Effect.fn("Service.sections")(function* (directory: string, module: string | undefined) {
  const owned = (yield* plugins(directory, module)).plugins.flatMap(({ config, id }) =>
    config.map((section) => ({ section, owner: id }))
  )
  const all: ReadonlyArray<OwnedSection> = [...hostSections, ...owned]
  // A section that two plugins share is read once, as the host does.
  return all.filter(({ section }, index) => all.findIndex((each) => isSamePath(each.section, section)) === index)
})

const isSamePath = (a: { readonly path: string }, b: { readonly path: string }): boolean =>
  a.path.toLowerCase() === b.path.toLowerCase()

/** Reads the configuration as the service would, were it started in the directory with these arguments. */
export const configuration = Effect.fnUntraced(function* (
  directory: string,
  args: ReadonlyArray<string>,
  owned: ReadonlyArray<OwnedSection>
) {
  const tree = yield* Configuration.load({ directory, environment: process.env, args })
  return { tree, decoded: yield* inDirectory(directory, Effect.result(decode(tree, owned))) }
})

/**
 * Runs an effect in the service's directory, to which the files are relative that a configuration names. A directory that is
 * not there has been told of among the problems of the configuration.
 */
const inDirectory = <A, E, R>(directory: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const before = process.cwd()
      if (existsSync(directory)) process.chdir(directory)
      return before
    }),
    () => effect,
    (before) => Effect.sync(() => process.chdir(before))
  )

const generatedList = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem
  const service = yield* PackageJson.read(directory)
  const file = nodePath.join(directory, service?.contents.layerhost?.output ?? "src/plugins.generated.ts")
  if (yield* fs.exists(file)) return file
  return yield* new CommandError({
    message:
      `${shown(file)} does not exist: run \`layerhost generate\` in the service's directory,` +
      " or name the module that exports its plugins with --plugins"
  })
})

const namedModule = Effect.fnUntraced(function* (module: string) {
  const fs = yield* FileSystem
  const file = nodePath.resolve(module)
  if (yield* fs.exists(file)) return file
  return yield* new CommandError({
    message: `${shown(file)} does not exist: name the file that exports the service's plugins with --plugins`
  })
})

const load = (file: string): Effect.Effect<Readonly<Record<string, unknown>>, CommandError> =>
  Effect.tryPromise({
    try: () => import(pathToFileURL(file).href),
    catch: (cause) => new CommandError({ message: `${shown(file)} cannot be imported: ${messageOf(cause)}` })
  })

const messageOf = (cause: unknown): string =>
  cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)

/** The list that a module exports as `plugins` or by default, or else every plugin among its exports. */
const pluginsOf = (exports: Readonly<Record<string, unknown>>): ReadonlyArray<Plugin.Any> | undefined => {
  for (const list of [exports["plugins"], exports["default"]]) {
    if (Array.isArray(list) && list.every(isPlugin)) return list
  }
  const plugins = Object.values(exports).filter(isPlugin)
  return plugins.length > 0 ? plugins : undefined
}

const isPlugin = (value: unknown): value is Plugin.Any =>
  typeof value === "object" && value !== null && "~layerhost/Plugins/Plugin" in value

/** A path as the user would type it. */
const shown = (file: string): string => nodePath.relative("", file) || "."
