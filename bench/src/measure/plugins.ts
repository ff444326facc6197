/** What plugins cost that a request has nothing to do with: each has an API of three endpoints. */
import type { Peer } from "../peers.ts"
import { type Load, Server } from "../processes.ts"
import { workloads } from "../workloads.ts"
import { byTurns, type Options, type Rounds } from "./throughput.ts"

export const counts = ["1", "10", "100", "1000"] as const
export type Count = (typeof counts)[number]

export interface Plugins {
  /** Milliseconds to the first answer, of each round. */
  readonly start: Record<Count, Array<number>>
  readonly requests: Record<string, Record<Count, Rounds>>
}

export const plugins = async (load: Load, { file }: Peer, options: Options): Promise<Plugins> => {
  const start = { "1": [], "10": [], "100": [], "1000": [] } as Record<Count, Array<number>>
  const startWith = (count: Count) => Server.start(file, { env: { PLUGINS: count } })
  for (let round = 0; round < options.rounds; round++) {
    for (const count of counts) {
      await using server = await startWith(count)
      start[count].push(server.started.millis)
    }
  }
  await using one = await startWith("1")
  await using ten = await startWith("10")
  await using hundred = await startWith("100")
  await using thousand = await startWith("1000")
  const servers = { "1": one, "10": ten, "100": hundred, "1000": thousand }
  const requests: Plugins["requests"] = {}
  for (const workload of workloads.slice(0, 2)) {
    requests[workload.name] = await byTurns(load, servers, workload, options)
  }
  return { start, requests }
}
