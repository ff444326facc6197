/** How long answers take at a rate that leaves every server idle most of the time, from when each request was due. */
import type { Load, Server } from "../processes.ts"
import { quantile } from "../statistics.ts"
import type { Workload } from "../workloads.ts"
import type { Options } from "./throughput.ts"

/** Requests in a second. */
export const rate = 1000

/** Milliseconds, of each round. */
export interface Latencies {
  readonly p50: Array<number>
  readonly p99: Array<number>
}

export const latencies = async (
  load: Load,
  servers: Readonly<Record<string, Server>>,
  workload: Workload,
  { rounds, seconds, warmUpSeconds }: Options
): Promise<Record<string, Latencies>> => {
  const names = Object.keys(servers)
  const results: Record<string, Latencies> = Object.fromEntries(names.map((name) => [name, { p50: [], p99: [] }]))
  for (const name of names) {
    await load.run(servers[name]!, workload, { kind: "closed", until: { seconds: warmUpSeconds } })
  }
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length]!
      const done = await load.run(servers[name]!, workload, { kind: "open", rate, seconds })
      results[name]!.p50.push(quantile(done.latencies, 0.5))
      results[name]!.p99.push(quantile(done.latencies, 0.99))
    }
  }
  return results
}
