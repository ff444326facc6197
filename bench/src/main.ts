/**
 * `npm run bench`: layerhost and its peers side by side. It measures and writes down; it holds nothing to a time.
 *
 * Everything of seven or more rounds is kept in `bench/results.json`, from which `docs/benchmarks.md`, its chart and the table
 * of the README are written. What is measured of some workloads or peers only, or of fewer rounds, is printed.
 */
import { execFile, execFileSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs, promisify } from "node:util"
import type { Options } from "./measure/throughput.ts"
import { baseline, peers as allPeers } from "./peers.ts"
import type { Server } from "./processes.ts"
import type { PartName, Parts, Results } from "./results.ts"
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
] as const satisfies ReadonlyArray<PartName>

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

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** The peers are no part of the project's own install. */
const installPeers = (): void => {
  const directory = resolve(import.meta.dirname, "..")
  const installed = join(directory, "node_modules/.package-lock.json")
  const locked = JSON.parse(readFileSync(join(directory, "package-lock.json"), "utf8"))
  const versions = ({ packages }: any) =>
    Object.entries(packages).map(([path, { version }]: any) => path && `${path}@${version}`)
  const isThere =
    existsSync(installed) &&
    new Set(versions(JSON.parse(readFileSync(installed, "utf8")))).isSupersetOf(
      new Set(versions(locked).filter(Boolean))
    )
  if (isThere) return
  say("Installing the peers…")
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: directory, stdio: ["ignore", "ignore", "inherit"] })
}

const run = async (): Promise<void> => {
  installPeers()
  const { latencies } = await import("./measure/latency.ts")
  const { coldStart, peakMemory } = await import("./measure/freshProcesses.ts")
  const { plugins } = await import("./measure/plugins.ts")
  const { byTurns } = await import("./measure/throughput.ts")
  const { tracing } = await import("./measure/tracing.ts")
  const Processes = await import("./processes.ts")
  const { checkAnswer } = await import("./sameAnswers.ts")
  const Results = await import("./results.ts")
  const Page = await import("./report/page.ts")
  const { replaceMarked } = await import("./report/markdown.ts")

  const options: Options = {
    rounds: Number(given.rounds),
    seconds: Number(given.seconds),
    warmUpSeconds: Number(given["warm-up"])
  }
  const workloads = chosen(allWorkloads, ({ name }) => name, given.workloads)
  const peers = chosen(allPeers, ({ name }) => name, given.peers && `${baseline},${given.peers}`)
  const layerhost = allPeers.find(({ name }) => name === "layerhost")!
  using load = new Processes.Load()

  /** Servers of all peers, whose answers are the same. */
  const withServers = async <A>(use: (servers: Record<string, Server>) => Promise<A>): Promise<A> => {
    await using stack = new AsyncDisposableStack()
    const servers: Record<string, Server> = {}
    for (const peer of peers) {
      const server = stack.use(await Processes.Server.start(peer.file))
      for (const workload of workloads) await checkAnswer(server, peer, workload)
      servers[peer.name] = server
    }
    return await use(servers)
  }

  /** Those that print their own table. */
  const printed = async (file: string, ...args: ReadonlyArray<string>): Promise<string> => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      join(import.meta.dirname, "measure", file),
      ...args
    ])
    return stdout
  }

  const measurements: { readonly [Name in PartName]: () => Promise<Parts[Name]> } = {
    throughput: () =>
      withServers(async (servers) => {
        const results: Parts["throughput"] = {}
        for (const workload of workloads) results[workload.name] = await byTurns(load, servers, workload, options)
        return results
      }),
    latency: () =>
      withServers(async (servers) => {
        const results: Parts["latency"] = {}
        for (const workload of workloads.filter(({ name }) => name === "W1" || name === "W2")) {
          results[workload.name] = await latencies(load, servers, workload, options)
        }
        return results
      }),
    memory: () => peakMemory(load, peers, allWorkloads[1]!, options.rounds),
    coldStart: () => coldStart(peers, options.rounds),
    plugins: () => plugins(load, layerhost, options),
    tracing: () => tracing(load, layerhost, options),
    secrets: async () => (await import("./measure/secrets/secrets.ts")).secrets(options.rounds),
    configuration: () => printed("configuration.ts"),
    generate: () => printed("generate.ts"),
    telemetry: () => printed("telemetry.ts", "--rounds", given.rounds)
  }

  const isKept = !given.print && options.rounds >= 7 && given.workloads === undefined && given.peers === undefined
  const results: Results = isKept ? Results.read() : {}
  for (const name of given.pages ? [] : chosen(parts, (name) => name, given.parts)) {
    say(`${name}…`)
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
  rewrite("README.md", "benchmarks", Page.throughputTable(results))
  const svg = Page.throughputChart(results)
  if (svg !== undefined) writeFileSync(join(root, "docs/benchmarks.svg"), svg)
}

if (given.help) process.stdout.write(help)
else await run()
