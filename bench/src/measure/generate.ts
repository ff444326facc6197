/**
 * What finding the plugins of a large service costs: 2,000 files of some 80 lines, of which 200 make a plugin, 200 another
 * part, and 100 use something of layerhost's.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import * as PluginList from "../../../src/cli/generate/PluginList.ts"
import { Sources } from "../../../src/cli/generate/Sources.ts"

const files = 2000
const rounds = 9

/** Ordinary code, which every file holds besides: a module of this repository without its imports. */
const filler = readFileSync(resolve(import.meta.dirname, "../../../src/Host/Http/Problem.ts"), "utf8")
  .split("\n")
  .filter((line) => !line.startsWith("import"))
  .join("\n")

const part = (n: number): string => {
  if (n % 10 === 0) {
    return `import { Plugin } from "layerhost"
import { Section${n + 1} } from "./m${n + 1}.ts"
export const plugin${n} = Plugin.make({ id: "plugin-${n}", config: [Section${n + 1}] })\n`
  }
  if (n % 10 === 1) {
    return `import { Section } from "layerhost"
export class Section${n} extends Section.Service<Section${n}>()("section-${n}", {}) {}\n`
  }
  if (n % 20 === 2)
    return `import { Task } from "layerhost"\nexport const task${n} = Task.make("task-${n}", Effect.void)\n`
  return `import * as other from "./m${(n * 7) % files}.ts"\nexport const value${n} = other\n`
}

const directory = mkdtempSync(join(tmpdir(), "layerhost-bench-"))
try {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  write("package.json", `{ "name": "bench" }`)
  for (let n = 0; n < files; n++) write(`src/m${n}.ts`, part(n) + filler)

  const measure = async (sources: () => Sources) => {
    const times: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const start = performance.now()
      const list = PluginList.make(directory, sources())
      const { plugins } = await Effect.runPromise(Effect.provide(list, NodeServices.layer))
      times.push(performance.now() - start)
      if (plugins.length !== files / 10) throw new Error(`found ${plugins.length} plugins`)
    }
    const [first] = times
    const sorted = times.toSorted((a, b) => a - b)
    return `first ${first!.toFixed(0)} ms, then ${sorted[0]!.toFixed(0)} to ${sorted.at(-2)!.toFixed(0)} ms`
  }

  process.stdout.write(`${files} files, of which ${files / 4} concern layerhost\n`)
  process.stdout.write(`anew:             ${await measure(() => new Sources())}\n`)
  const kept = new Sources()
  process.stdout.write(`as --watch does:  ${await measure(() => kept)}\n`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
