/** What tracing costs: spans of all requests, of a tenth of them, or none, sent to a collector that takes them. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { Peer } from "../peers.ts"
import { type Load, Server } from "../processes.ts"
import { workloads } from "../workloads.ts"
import { byTurns, type Options, type Rounds } from "./throughput.ts"

export const ways = ["untraced", "10 % sampled", "everything sampled"] as const
export type Way = (typeof ways)[number]

export const tracing = async (
  load: Load,
  { file }: Peer,
  options: Options
): Promise<Record<string, Record<Way, Rounds>>> => {
  const collector = fork(join(import.meta.dirname, "telemetry/collector.ts"), ["well"])
  try {
    const [{ url }] = (await once(collector, "message")) as [{ readonly url: string }]
    const traced = (ratio: string) =>
      Server.start(file, {
        env: { TELEMETRY_ENDPOINT: url, TELEMETRY_SAMPLERATIO: ratio, TELEMETRY_LOGS: "false" }
      })
    await using untraced = await Server.start(file)
    await using tenth = await traced("0.1")
    await using all = await traced("1")
    const servers = { untraced, "10 % sampled": tenth, "everything sampled": all }
    const results: Record<string, Record<Way, Rounds>> = {}
    for (const workload of workloads.slice(0, 2)) {
      results[workload.name] = await byTurns(load, servers, workload, options)
    }
    return results
  } finally {
    collector.disconnect()
  }
}
