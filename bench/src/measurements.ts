/** Each part of the benchmark, for chosen peers and workloads. */
import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { coldStart, peakMemory } from "./measure/freshProcesses.ts"
import { latencies } from "./measure/latency.ts"
import { plugins } from "./measure/plugins.ts"
import { secrets } from "./measure/secrets/secrets.ts"
import { byTurns, type Options } from "./measure/throughput.ts"
import { tracing } from "./measure/tracing.ts"
import { type Peer, peers as allPeers } from "./peers.ts"
import { type Load, Server } from "./processes.ts"
import type { PartName, Parts } from "./results.ts"
import { checkAnswer } from "./sameAnswers.ts"
import { type Workload, workloads as allWorkloads } from "./workloads.ts"

export type Measurements = { readonly [Name in PartName]: () => Promise<Parts[Name]> }

export const make = (
  load: Load,
  peers: ReadonlyArray<Peer>,
  workloads: ReadonlyArray<Workload>,
  options: Options
): Measurements => {
  const layerhost = allPeers.find(({ name }) => name === "layerhost")!

  /** Runs something for each of some workloads, over servers of all peers, whose answers are the same. */
  const byWorkload = async <A>(
    workloads: ReadonlyArray<Workload>,
    run: (servers: Record<string, Server>, workload: Workload) => Promise<A>
  ): Promise<Record<string, A>> => {
    await using stack = new AsyncDisposableStack()
    const servers: Record<string, Server> = {}
    for (const peer of peers) {
      const server = stack.use(await Server.start(peer.file))
      for (const workload of workloads) await checkAnswer(server, peer, workload)
      servers[peer.name] = server
    }
    const results: Record<string, A> = {}
    for (const workload of workloads) results[workload.name] = await run(servers, workload)
    return results
  }

  /** What prints its own table. */
  const printed = async (file: string, ...args: ReadonlyArray<string>): Promise<string> => {
    const script = join(import.meta.dirname, "measure", file)
    return (await promisify(execFile)(process.execPath, [script, ...args])).stdout
  }

  return {
    throughput: () => byWorkload(workloads, (servers, workload) => byTurns(load, servers, workload, options)),
    latency: () =>
      byWorkload(
        workloads.filter(({ name }) => name === "W1" || name === "W2"),
        (servers, workload) => latencies(load, servers, workload, options)
      ),
    memory: () => peakMemory(load, peers, allWorkloads[1]!, options.rounds),
    coldStart: () => coldStart(peers, options.rounds),
    plugins: () => plugins(load, layerhost, options),
    tracing: () => tracing(load, layerhost, options),
    secrets: () => secrets(options.rounds),
    configuration: () => printed("configuration.ts"),
    generate: () => printed("generate.ts"),
    telemetry: () => printed("telemetry.ts", "--rounds", String(options.rounds))
  }
}
