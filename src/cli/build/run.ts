/** What `layerhost build` does. Loaded only when it is asked for. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { FileSystem } from "effect/FileSystem"
import * as nodePath from "node:path"
import packageJson from "../../../package.json" with { type: "json" }
import { CommandError } from "../CommandError.ts"
import * as PackageJson from "../generate/PackageJson.ts"
import * as PluginList from "../generate/PluginList.ts"
import * as Bundle from "./Bundle.ts"

/** What to build. */
export interface Options {
  readonly directory: string
  /** The program, in the directory. */
  readonly main: string
  /** The file to write, in the directory. */
  readonly out: string
  readonly external: ReadonlyArray<string>
  readonly minify: boolean
  readonly sourcemap: boolean
}

/** Writes the list of plugins, where there is one, and then the file. */
export const run = Effect.fnUntraced(function* (options: Options) {
  const fs = yield* FileSystem
  const directory = nodePath.resolve(options.directory)
  const main = nodePath.join(directory, options.main)
  const out = nodePath.resolve(directory, options.out)
  if (!(yield* fs.exists(main))) {
    return yield* new CommandError({
      message: `${shown(main)} does not exist: run this in the service's directory, or name its program with --main`
    })
  }
  if (!/\.m?js$/.test(out)) {
    return yield* new CommandError({
      message: `${shown(out)} would not be run as an ES module: name a file that ends in .mjs with --out`
    })
  }
  const rolldown = yield* bundler
  const service = yield* PackageJson.read(directory)
  // A service that names its plugins itself has no list to keep fresh.
  if (yield* fs.exists(nodePath.join(directory, service?.contents.layerhost?.output ?? "src/plugins.generated.ts"))) {
    yield* PluginList.write(yield* PluginList.make(directory))
  }
  const { code, map, modules } = yield* Effect.tryPromise({
    try: () => Bundle.make({ ...options, main, out, rolldown }),
    catch: (cause) => new CommandError({ message: `The service cannot be built: ${Bundle.messageOf(cause)}` })
  })
  yield* fs.makeDirectory(nodePath.dirname(out), { recursive: true })
  yield* fs.writeFileString(out, code)
  if (map !== undefined) yield* fs.writeFileString(`${out}.map`, map)
  const kilobytes = Math.ceil(Buffer.byteLength(code) / 1000)
  yield* Console.log(`${shown(out)}: ${modules.toLocaleString("en")} modules, ${kilobytes.toLocaleString("en")} kB`)
})

const { rolldown: wanted } = packageJson.peerDependencies

/** The bundler, which only services that are built need to have installed. */
const bundler = Effect.tryPromise({
  try: async () => (await import("rolldown")).rolldown,
  catch: (cause) =>
    new CommandError({
      message:
        `This needs the bundler rolldown: run \`npm install --save-dev rolldown@${wanted}\` in the service's directory` +
        // What is installed may still not load, such as a binary for another platform.
        ((cause as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND" ? "" : ` (${(cause as Error).message})`)
    })
})

/** A path as the user would type it. */
const shown = (file: string): string => nodePath.relative("", file)
