/**
 * `npm run bench`: layerhost and its peers side by side. It measures and writes down; it holds nothing to a time.
 *
 * Everything of seven or more rounds is kept in `bench/results.json`, from which `docs/benchmarks.md`, its chart and the table
 * of the README are written. What is measured of some workloads or peers only, or of fewer rounds, is printed.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { installPeers } from "./install.ts"
import type { Options } from "./measure/throughput.ts"
import * as Measurements from "./measurements.ts"
import { baseline, peers as allPeers } from "./peers.ts"
import { Load } from "./processes.ts"
import { replaceMarked } from "./report/markdown.ts"
import * as Page from "./report/page.ts"
import * as Results from "./results.ts"
import { workloads as allWorkloads } from "./workloads.ts"

const parts = [
  "throughput",
  "latency",
  "memory",
  "coldStart",
  "plugins",
  "tracing",
  "secrets",
  "configuration",
  "generate",
  "telemetry"
] as const satisfies ReadonlyArray<Results.PartName>

const { values: given } = parseArgs({
  options: {
    parts: { type: "string", default: parts.join() },
    workloads: { type: "string" },
    peers: { type: "string" },
    rounds: { type: "string", default: "7" },
    seconds: { type: "string", default: "1" },
    "warm-up": { type: "string", default: "3" },
    print: { type: "boolean", default: false },
    pages: { type: "boolean", default: false },
    help: { type: "boolean", default: false }
  }
})

const help = `npm run bench -- [options]
  --parts a,b      of: ${parts.join(", ")}
  --workloads a,b  of: ${allWorkloads.map(({ name }) => name).join(", ")}
  --peers a,b      of: ${allPeers.map(({ name }) => name).join(", ")}; ${baseline} always is
  --rounds n       7
  --seconds n      of a server's turn in a round: 1
  --warm-up n      seconds before the first round: 3
  --print          write no page
  --pages          measure nothing: write the pages of what is kept
`

const chosen = <A>(
  all: ReadonlyArray<A>,
  nameOf: (each: A) => string,
  option: string | undefined
): ReadonlyArray<A> => {
  const names = option?.split(",")
  const unknown = names?.filter((name) => !all.some((each) => nameOf(each) === name)) ?? []
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(", ")}\n${help}`)
  return all.filter((each) => names?.includes(nameOf(each)) ?? true)
}

const run = async (): Promise<void> => {
  installPeers()
  const options: Options = {
    rounds: Number(given.rounds),
    seconds: Number(given.seconds),
    warmUpSeconds: Number(given["warm-up"])
  }
  const workloads = chosen(allWorkloads, ({ name }) => name, given.workloads)
  const peers = chosen(allPeers, ({ name }) => name, given.peers && `${baseline},${given.peers}`)
  using load = new Load()
  const measurements = Measurements.make(load, peers, workloads, options)

  const isKept = !given.print && options.rounds >= 7 && given.workloads === undefined && given.peers === undefined
  const results: Results.Results = isKept ? Results.read() : {}
  for (const name of given.pages ? [] : chosen(parts, (name) => name, given.parts)) {
    process.stderr.write(`${name}…\n`)
    Object.assign(results, { [name]: await Results.measured<unknown>(measurements[name]) })
    if (isKept) Results.write(results)
  }
  if (!isKept) return void process.stdout.write(`${Page.page(results)}\n`)

  const root = resolve(import.meta.dirname, "../..")
  const rewrite = (file: string, name: string, text: string) => {
    const path = join(root, file)
    writeFileSync(path, replaceMarked(readFileSync(path, "utf8"), name, text))
  }
  rewrite("docs/benchmarks.md", "results", Page.page(results))
  rewrite("README.md", "benchmarks", Page.costTable(results))
  const svg = Page.throughputChart(results)
  if (svg !== undefined) writeFileSync(join(root, "docs/benchmarks.svg"), svg)
}

if (given.help) process.stdout.write(help)
else await run()
