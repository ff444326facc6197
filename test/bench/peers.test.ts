/** The peers that need no package of their own answer the same, so that the benchmark compares what can be compared. */
import { describe, it } from "@effect/vitest"
import { peers } from "../../bench/src/peers.ts"
import { Server } from "../../bench/src/processes.ts"
import { checkAnswer } from "../../bench/src/sameAnswers.ts"
import { workloads } from "../../bench/src/workloads.ts"

describe("The benchmark's workloads", () => {
  it.each(peers.filter(({ file }) => !file.includes("packages")))("are answered by $name", async (peer) => {
    await using server = await Server.start(peer.file)
    for (const workload of workloads) await checkAnswer(server, peer, workload)
  })
})
