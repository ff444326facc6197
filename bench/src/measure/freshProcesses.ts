/** What only a fresh process shows: how soon it answers, and the most memory that it takes. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { type Peer, rival } from "../peers.ts"
import { type Load, Server, type Started, type StartOptions } from "../processes.ts"
import type { Workload } from "../workloads.ts"

/** Requests before memory is looked at. */
export const requests = 20_000

/** Bytes at the peak, of each round. */
export const peakMemory = async (
  load: Load,
  peers: ReadonlyArray<Peer>,
  workload: Workload,
  rounds: number
): Promise<Record<string, Array<number>>> => {
  const results: Record<string, Array<number>> = Object.fromEntries(peers.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const { name, file } of peers) {
      await using server = await Server.start(file)
      await load.run(server, workload, { kind: "closed", until: { count: requests } })
      results[name]!.push((await server.usage()).peakMemory)
    }
  }
  return results
}

/** Layerhost's rival, with what `npm start` uses to start sooner. */
export const cachedRival = "Fastify, same features, with Node's compile cache"

/** The service of `npm start`. */
export const example = "npm start"

/** The same, built as one file. */
export const bundledExample = "npm start, one file"

/** The same with Node's compile cache. */
const cachedBundledExample = "npm start, one file, with Node's compile cache"

const command = resolve(import.meta.dirname, "../../../src/cli/main.ts")
const exampleDirectory = resolve(import.meta.dirname, "../../../examples/credentials")

/** The rival takes no signal: it would be ended before it writes its cache. */
const endsBySignal = ["--import", `data:text/javascript,process.on("SIGTERM",()=>process.exit())`]

/** From the start of a process to its first answer 200, each round. */
export const coldStart = async (
  peers: ReadonlyArray<Peer>,
  rounds: number
): Promise<Record<string, Array<Started>>> => {
  const directory = mkdtempSync(join(tmpdir(), "layerhost-bench-"))
  const bundle = join(directory, "main.mjs")
  execFileSync(process.execPath, [command, "build", exampleDirectory, "--out", bundle], { stdio: "ignore" })
  const cached = { NODE_COMPILE_CACHE: join(directory, "cache") }
  const env = { SECRETSTORE_LOCALFILESYSTEMPATH: join(directory, "secrets") }
  const service: StartOptions = { directory: exampleDirectory, path: "/health/liveness", env }
  const flags = ["--import", "layerhost/CompileCache"]
  const started: ReadonlyArray<readonly [string, string, StartOptions]> = [
    ...peers.map(({ name, file }) => [name, file, {}] as const),
    ...peers
      .filter(({ name }) => name === rival)
      .map(({ file }) => [cachedRival, file, { env: cached, flags: endsBySignal }] as const),
    [example, join(exampleDirectory, "src/main.ts"), { ...service, flags, env: { ...env, ...cached } }],
    [bundledExample, bundle, service],
    [cachedBundledExample, bundle, { ...service, env: { ...env, ...cached } }]
  ]
  const results: Record<string, Array<Started>> = Object.fromEntries(started.map(([name]) => [name, []]))
  try {
    // The first round brings files into the system's cache, fills the compile cache, and does not count.
    for (let round = -1; round < rounds; round++) {
      for (const [name, file, options] of started) {
        await using server = await Server.start(file, { ...options, agent: false })
        if (round >= 0) results[name]!.push(server.started)
        else await server.stop()
      }
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
  return results
}
