/**
 * What telemetry costs a request, and what a collector in trouble costs it.
 *
 * `node bench/src/measure/telemetry.ts` prints two tables. The first counts CPU time of the host's process per request of a small GET,
 * which says more than throughput where the machine is shared; the ratio is that of the throughput which one core would give.
 * The second tells latencies at a fixed rate. Hosts take turns, and the best round of each counts: whatever else the machine
 * does only adds to a time. The median of the rounds stands beside it.
 */
import { type ChildProcess, fork } from "node:child_process"
import * as http from "node:http"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { parseArgs } from "node:util"

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "21" },
    requests: { type: "string", default: "5000" },
    rate: { type: "string", default: "500" },
    seconds: { type: "string", default: "1" },
    only: { type: "string" }
  }
})
const rounds = Number(options.rounds)
const requests = Number(options.requests)

interface Used {
  readonly cpu: NodeJS.CpuUsage
  readonly rss: number
}

const children: Array<ChildProcess> = []

const start = async (script: string, argument: string): Promise<{ child: ChildProcess; url: string }> => {
  const child = fork(join(import.meta.dirname, "telemetry", script), [argument], {
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  children.push(child)
  const { url } = await answerOf<{ url: string }>(child)
  return { child, url }
}

const answerOf = <A>(child: ChildProcess): Promise<A> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a child ended with ${code}`))
    child.once("exit", onExit)
    child.once("message", (message) => {
      child.off("exit", onExit)
      resolve(message as A)
    })
  })

const usedBy = (child: ChildProcess): Promise<Used> => {
  const used = answerOf<Used>(child)
  child.send("usage")
  return used
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 32 })

/** Sends one request, and gives the milliseconds until its answer was read. */
const get = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const begun = performance.now()
    http
      .get(`${url}/items/7`, { agent }, (response) => {
        response
          .resume()
          .on("end", () =>
            response.statusCode === 200
              ? resolve(performance.now() - begun)
              : reject(new Error(`${response.statusCode}`))
          )
      })
      .on("error", reject)
  })

const send = async (url: string, count: number): Promise<void> => {
  let left = count
  const worker = async () => {
    while (left-- > 0) await get(url)
  }
  await Promise.all(Array.from({ length: 32 }, worker))
}

/** CPU microseconds of one process for each of some requests. */
const costOf = async ({ child, url }: { child: ChildProcess; url: string }): Promise<number> => {
  const before = await usedBy(child)
  await send(url, requests)
  const after = await usedBy(child)
  return (after.cpu.user + after.cpu.system - before.cpu.user - before.cpu.system) / requests
}

/** Milliseconds of each of the requests that begin at a fixed rate, whatever the answers do. */
const latenciesOf = async (url: string): Promise<ReadonlyArray<number>> => {
  const count = Number(options.rate) * Number(options.seconds)
  const begun = performance.now()
  const latencies: Array<Promise<number>> = []
  while (latencies.length < count) {
    const due = ((performance.now() - begun) / 1000) * Number(options.rate)
    while (latencies.length < Math.min(count, due)) latencies.push(get(url))
    await setTimeout(1)
  }
  return Promise.all(latencies)
}

const sorted = (numbers: ReadonlyArray<number>) => numbers.toSorted((a, b) => a - b)
const quantile = (numbers: ReadonlyArray<number>, q: number) =>
  sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * q))]!
const best = (numbers: ReadonlyArray<number>) => Math.min(...numbers)
const spread = (numbers: ReadonlyArray<number>, digits: number) =>
  `${best(numbers).toFixed(digits)} (${quantile(numbers, 0.5).toFixed(digits)})`

const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |\n`
  return line(rows[0]!) + line(widths.map((width) => "-".repeat(width))) + rows.slice(1).map(line).join("")
}

/** The exporting of one host to one collector; `http/protobuf` is the default protocol. */
const exporting = (endpoint: string, more: Record<string, unknown> = {}) =>
  JSON.stringify({ telemetry: { endpoint, ...more } })

const measureCost = async (): Promise<void> => {
  const { url } = await start("collector.ts", "well")
  const ways: ReadonlyArray<readonly [string, string]> = [
    ["not exported", "{}"],
    ["traces, none sampled", exporting(url, { sampleRatio: 0, logs: false })],
    ["traces, 10 % sampled", exporting(url, { sampleRatio: 0.1, logs: false })],
    ["traces, everything sampled", exporting(url, { logs: false })],
    ["traces and logs, everything sampled", exporting(url)]
  ]
  const hosts = []
  for (const [name, values] of ways) {
    const host = await start("host.ts", values)
    await send(host.url, 20_000)
    hosts.push({ name, host, costs: [] as Array<number> })
  }
  for (let round = 0; round < rounds; round++) {
    for (const { costs, host } of hosts) costs.push(await costOf(host))
  }
  const bare = best(hosts[0]!.costs)
  process.stdout.write(
    table([
      ["telemetry", "CPU µs per request", "throughput"],
      ...hosts.map(({ costs, name }) => [name, spread(costs, 1), `${(bare / best(costs)).toFixed(2)}×`])
    ])
  )
  for (const { host } of hosts) host.child.disconnect()
}

const measureTrouble = async (): Promise<void> => {
  const hosts = []
  for (const kind of ["no collector", "well", "away", "refusing", "asking to wait", "closing mid-body", "slow"]) {
    const collector =
      kind === "no collector"
        ? undefined
        : kind === "away"
          ? "http://127.0.0.1:9"
          : (await start("collector.ts", kind)).url
    const host = await start("host.ts", collector === undefined ? "{}" : exporting(collector))
    await send(host.url, 20_000)
    hosts.push({ kind, host, p50: [] as Array<number>, p99: [] as Array<number>, rss: 0 })
  }
  for (let round = 0; round < rounds; round++) {
    for (const each of hosts) {
      const latencies = await latenciesOf(each.host.url)
      each.p50.push(quantile(latencies, 0.5))
      each.p99.push(quantile(latencies, 0.99))
    }
  }
  for (const each of hosts) {
    // A flood, which fills what can be filled.
    await send(each.host.url, requests * 2)
    each.rss = (await usedBy(each.host.child)).rss
  }
  process.stdout.write(
    `\n${table([
      ["collector", "p50 ms", "p99 ms", "memory MiB"],
      ...hosts.map(({ kind, p50, p99, rss }) => [kind, spread(p50, 2), spread(p99, 2), (rss / 2 ** 20).toFixed(0)])
    ])}`
  )
}

if (options.only !== "trouble") await measureCost()
if (options.only !== "cost") await measureTrouble()
for (const child of children) if (child.connected) child.disconnect()
agent.destroy()
