/** Requests in a second, and what each costs in processor time, of servers by turns. */
import type { Load, Server } from "../processes.ts"
import type { Workload } from "../workloads.ts"

/** Of each round. */
export interface Rounds {
  readonly perSecond: Array<number>
  /** Microseconds of all threads of the server's process, for each request. */
  readonly cpu: Array<number>
}

export interface Options {
  readonly rounds: number
  /** How long each round of a server takes, and its warm-up before them. */
  readonly seconds: number
  readonly warmUpSeconds: number
}

/** In each round every server has its turn, and each round begins with another one. */
export const byTurns = async <Name extends string>(
  load: Load,
  servers: Readonly<Record<Name, Server>>,
  workload: Workload,
  { rounds, seconds, warmUpSeconds }: Options
): Promise<Record<Name, Rounds>> => {
  const names = Object.keys(servers) as Array<Name>
  const results = {} as Record<Name, Rounds>
  for (const name of names) {
    results[name] = { perSecond: [], cpu: [] }
    await load.run(servers[name], workload, { kind: "closed", until: { seconds: warmUpSeconds } })
  }
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length]!
      const before = await servers[name].usage()
      const done = await load.run(servers[name], workload, { kind: "closed", until: { seconds } })
      const after = await servers[name].usage()
      results[name].perSecond.push(done.count / done.seconds)
      results[name].cpu.push((after.cpu - before.cpu) / done.count)
    }
  }
  return results
}
