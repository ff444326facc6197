/**
 * Makes one file of a program and all modules that it imports.
 *
 * What is imported when the program starts is one module, whose top level runs at once. What it imports later, with `import()`, is
 * kept apart and packed, so that a start does not even compile it: clients that nobody uses, exporters, the page of the documentation.
 */
import { basename, dirname, join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import type { OutputChunk, Plugin, RolldownOptions, rolldown as Rolldown } from "rolldown"
import * as Ascii from "./Ascii.ts"
import { nativeCode } from "./nativeCode.ts"
import { nodeModules } from "./nodeModules.ts"
import { starExports } from "./starExports.ts"
import * as OneFile from "./OneFile.ts"
import * as TopLevelAwait from "./TopLevelAwait.ts"

/** What to bundle, and how. */
export interface Options {
  readonly rolldown: typeof Rolldown
  readonly main: string
  /** The file that is to be made, to which source maps are relative. */
  readonly out: string
  /** Packages that stay outside. */
  readonly external: ReadonlyArray<string>
  readonly minify: boolean
  readonly sourcemap: boolean
}

/** A program in one file. */
export interface Bundle {
  readonly code: string
  readonly map: string | undefined
  /** How many modules are in it. */
  readonly modules: number
}

/** Fails with errors of the bundler, which {@link messageOf} puts into words. */
export const make = async (options: Options): Promise<Bundle> => {
  const { chunks, modules } = await chunksOf(options)
  const [entry, others] = [chunks.find(({ isEntry }) => isEntry)!, chunks.filter(({ isEntry }) => !isEntry)]
  const parts = others.map(({ code, fileName, map }) => ({
    name: fileName,
    code: map === null ? code : `${code}\n//# sourceMappingURL=${map.toUrl()}\n`
  }))
  const first = await linked(entry, chunks, options)
  // Source maps tell of the file as it is.
  const code = options.minify && !options.sourcemap ? Ascii.encode(first.code) : first.code
  return { code: code + OneFile.tail(parts), map: first.map?.toString(), modules }
}

/** The program as the modules that are loaded at the same time. */
const chunksOf = async ({ external, main, minify, out, rolldown, sourcemap }: Options) => {
  /** Everything that the program imports while it starts. */
  const atStart = new Set<string>()
  let modules = 0
  let waits = false
  const watch: Plugin = {
    name: "layerhost:start",
    buildEnd() {
      modules = [...this.getModuleIds()].length
      const ids = [...this.getModuleIds()].filter((id) => this.getModuleInfo(id)?.isEntry)
      for (const id of ids) {
        if (atStart.has(id)) continue
        atStart.add(id)
        const info = this.getModuleInfo(id)
        ids.push(...(info?.importedIds ?? []))
        waits ||= TopLevelAwait.isIn(info?.code ?? "")
      }
    }
  }
  await using build = await rolldown({
    ...common,
    input: { main },
    external: external.flatMap((name) => [name, new RegExp(`^${RegExp.escape(name)}/`)]),
    plugins: [nativeCode, nodeModules, starExports, watch]
  })
  const output = {
    dir: dirname(out),
    minify,
    sourcemap,
    entryFileNames: entryName,
    chunkFileNames: "[name]-[hash].mjs"
  }
  const groups = [{ name: "main", test: (id: string) => atStart.has(id) }]
  let { output: written } = await build.generate({ ...output, codeSplitting: { groups } })
  // What waits for a part of itself while it starts, would wait for ever: the part waits for the start. Such a program stays whole.
  if (waits) written = (await build.generate({ ...output, codeSplitting: false })).output
  return { chunks: written.filter((file) => file.type === "chunk"), modules }
}

const entryName = "main.mjs"

/** The entry with the chunks that it imports itself, which are the bundler's own helpers. */
const linked = async (entry: OutputChunk, chunks: ReadonlyArray<OutputChunk>, options: Options) => {
  const directory = dirname(options.out)
  const byId = new Map(chunks.map((chunk) => [join(directory, chunk.fileName), chunk]))
  const memory: Plugin = {
    name: "layerhost:chunks",
    resolveId: (specifier, _importer, { kind }) => {
      const id = join(directory, specifier)
      if (!byId.has(id)) return { id: specifier, external: true }
      return kind === "dynamic-import" ? { id: specifier, external: true } : id
    },
    load: (id) => {
      const { code, map } = byId.get(id)!
      return { code, map: map?.toString() ?? null }
    }
  }
  await using build = await options.rolldown({
    ...common,
    input: { main: `./${entry.fileName}` },
    treeshake: false,
    plugins: [memory]
  })
  const { output } = await build.generate({
    minify: options.minify,
    sourcemap: options.sourcemap,
    codeSplitting: false,
    dir: directory,
    entryFileNames: basename(options.out),
    banner: OneFile.head(
      entryName,
      chunks.filter((chunk) => chunk !== entry).map(({ fileName }) => fileName)
    )
  })
  return output[0]
}

const common: RolldownOptions = {
  platform: "node",
  // Node runs the sources without looking at it.
  tsconfig: false,
  onLog: (_level, log) => {
    if (log.code !== "UNRESOLVED_IMPORT") return
    const [what] = log.message.replace(/^\S*\[UNRESOLVED_IMPORT\]\S* /, "").split("\n")
    throw new Error(`${what}: install it, or leave it out with --external`)
  }
}

/** What is wrong with the program, without the bundler's own words around it. */
export const messageOf = (cause: unknown): string => {
  const { errors = [cause] } = cause as { readonly errors?: ReadonlyArray<unknown> }
  return errors
    .map((error) => stripVTControlCharacters(error instanceof Error ? error.message : String(error)).trim())
    .join("\n")
}
