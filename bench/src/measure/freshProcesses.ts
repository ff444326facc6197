/** What only a fresh process shows: how soon it answers, and the most memory that it takes. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join, resolve } from "node:path"
import { type Peer, rival } from "../peers.ts"
import { type Load, Server, type Started, type StartOptions } from "../processes.ts"
import type { Workload } from "../workloads.ts"

/** Requests before memory is looked at. */
export const requests = 20_000

/** How `npm start` starts a service. */
const quickStart = ["--import", "layerhost/QuickStart"]

/** layerhost as one file. */
export const bundledPeer = "layerhost, one file"

/** Bytes at the peak, of each round. Layerhost is started as `npm start` starts a service, and as one file. */
export const peakMemory = async (
  load: Load,
  peers: ReadonlyArray<Peer>,
  workload: Workload,
  rounds: number
): Promise<Record<string, Array<number>>> => {
  using directory = makeDirectory()
  const env = { NODE_COMPILE_CACHE: join(directory.path, "cache") }
  const started = peers.flatMap(({ name, file }): ReadonlyArray<readonly [string, string, StartOptions]> => {
    if (name !== "layerhost") return [[name, file, {}]]
    const bundle = build(dirname(file), basename(file), directory.path)
    return [
      [name, file, { flags: quickStart, env }],
      [bundledPeer, bundle, {}]
    ]
  })
  const results: Record<string, Array<number>> = Object.fromEntries(started.map(([name]) => [name, []]))
  // The first round fills the compile cache, and does not count.
  for (let round = -1; round < rounds; round++) {
    for (const [name, file, options] of started) {
      await using server = await Server.start(file, options)
      await load.run(server, workload, { kind: "closed", until: { count: requests } })
      if (round >= 0) results[name]!.push((await server.usage()).peakMemory)
      else await server.stop()
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
export const cachedBundledExample = "npm start, one file, with Node's compile cache"

const command = resolve(import.meta.dirname, "../../../src/cli/main.ts")
const exampleDirectory = resolve(import.meta.dirname, "../../../examples/credentials")

/** The rival takes no signal: it would be ended before it writes its cache. */
const endsBySignal = ["--import", `data:text/javascript,process.on("SIGTERM",()=>process.exit())`]

/** From the start of a process to its first answer 200, each round. */
export const coldStart = async (
  peers: ReadonlyArray<Peer>,
  rounds: number
): Promise<Record<string, Array<Started>>> => {
  using directory = makeDirectory()
  const bundle = build(exampleDirectory, "src/main.ts", directory.path)
  const cached = { NODE_COMPILE_CACHE: join(directory.path, "cache") }
  const env = { SECRETSTORE_LOCALFILESYSTEMPATH: join(directory.path, "secrets") }
  const service: StartOptions = { directory: exampleDirectory, path: "/health/liveness", env }
  const started: ReadonlyArray<readonly [string, string, StartOptions]> = [
    ...peers.map(({ name, file }) => [name, file, {}] as const),
    ...peers
      .filter(({ name }) => name === rival)
      .map(({ file }) => [cachedRival, file, { env: cached, flags: endsBySignal }] as const),
    [example, join(exampleDirectory, "src/main.ts"), { ...service, flags: quickStart, env: { ...env, ...cached } }],
    [bundledExample, bundle, service],
    [cachedBundledExample, bundle, { ...service, env: { ...env, ...cached } }]
  ]
  const results: Record<string, Array<Started>> = Object.fromEntries(started.map(([name]) => [name, []]))
  // The first round brings files into the system's cache, fills the compile cache, and does not count.
  for (let round = -1; round < rounds; round++) {
    for (const [name, file, options] of started) {
      await using server = await Server.start(file, { ...options, agent: false })
      if (round >= 0) results[name]!.push(server.started)
      else await server.stop()
    }
  }
  return results
}

/** Makes one file of a service. */
const build = (directory: string, main: string, to: string): string => {
  const out = join(to, "main.mjs")
  execFileSync(process.execPath, [command, "build", directory, "--main", main, "--out", out], { stdio: "ignore" })
  return out
}

const makeDirectory = () => {
  const path = mkdtempSync(join(tmpdir(), "layerhost-bench-"))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) }
}
