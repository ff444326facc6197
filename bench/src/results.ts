/** What was measured, part by part, each with when and where: kept in `bench/results.json`, from which the pages are written. */
import { readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { availableParallelism, cpus, loadavg } from "node:os"
import { join, resolve } from "node:path"
import type { Latencies } from "./measure/latency.ts"
import type { Plugins } from "./measure/plugins.ts"
import type { CaseResult } from "./measure/secrets/secrets.ts"
import type { Rounds } from "./measure/throughput.ts"
import type { Way } from "./measure/tracing.ts"
import { isPinned, type Started } from "./processes.ts"

/** The results of the parts, most of them by workload and then by peer. */
export interface Parts {
  readonly throughput: Record<string, Record<string, Rounds>>
  readonly latency: Record<string, Record<string, Latencies>>
  readonly memory: Record<string, ReadonlyArray<number>>
  readonly coldStart: Record<string, ReadonlyArray<Started>>
  readonly plugins: Plugins
  readonly tracing: Record<string, Record<Way, Rounds>>
  readonly secrets: ReadonlyArray<CaseResult>
  /** What the measurements that print their own table have printed. */
  readonly configuration: string
  readonly generate: string
  readonly telemetry: string
}

export type PartName = keyof Parts

export interface Circumstances {
  readonly date: string
  readonly node: string
  readonly cpu: string
  readonly processors: number
  readonly isPinned: boolean
  /** How many processes wanted a processor before and after: more than there are processors is a busy machine. */
  readonly load: readonly [before: number, after: number]
  readonly versions: Record<string, string>
}

export type Results = {
  readonly [Name in PartName]?: { readonly circumstances: Circumstances; readonly data: Parts[Name] }
}

const file = resolve(import.meta.dirname, "../results.json")

export const read = (): Results => JSON.parse(readFileSync(file, "utf8"))

export const write = (results: Results): void => writeFileSync(file, `${JSON.stringify(results, rounded, 1)}\n`)

const rounded = (_: string, value: unknown) => (typeof value === "number" ? Number(value.toPrecision(4)) : value)

/** Runs a part and notes the circumstances. */
export const measured = async <A>(run: () => Promise<A>): Promise<{ circumstances: Circumstances; data: A }> => {
  const before = loadavg()[0]!
  const data = await run()
  const circumstances: Circumstances = {
    date: new Date().toISOString().slice(0, 16),
    node: process.version,
    cpu: `${cpus()[0]?.model ?? "unknown"} (${cpuDetail()})`,
    processors: availableParallelism(),
    isPinned,
    load: [before, loadavg()[0]!],
    versions: versions()
  }
  return { circumstances, data }
}

/** Models of virtual machines are often just the maker's name; the numbers say more. */
const cpuDetail = (): string => {
  const info = process.platform === "linux" ? readFileSync("/proc/cpuinfo", "utf8") : ""
  const value = (name: string) => new RegExp(`^${name}\\s*: (.*)$`, "m").exec(info)?.[1] ?? "?"
  return `family ${value("cpu family")}, model ${value("model")}`
}

const packages = ["layerhost", "effect", "fastify", "@nestjs/core", "express", "pino", "prom-client"]

const versions = (): Record<string, string> => {
  const benchRequire = createRequire(join(import.meta.dirname, "../package.json"))
  const directories = (name: string) => benchRequire.resolve.paths(name) ?? []
  const versionOf = (name: string): string => {
    for (const directory of directories(name)) {
      try {
        return JSON.parse(readFileSync(join(directory, name, "package.json"), "utf8")).version
      } catch {
        // Not in this one.
      }
    }
    return "?"
  }
  return Object.fromEntries(packages.map((name) => [name, versionOf(name)]))
}
