/** What layerhost is held to, and what was measured of it. */
import { bundledExample, bundledPeer, cachedBundledExample, example } from "../measure/freshProcesses.ts"
import { ways } from "../measure/tracing.ts"
import { baseline, rival } from "../peers.ts"
import type { Started } from "../processes.ts"
import type { Results } from "../results.ts"
import { ratio, type Spread } from "../statistics.ts"

export interface Bar {
  readonly what: string
  readonly bound: "at least" | "at most"
  readonly value: number
  /** Absent where it was not measured. */
  readonly measured: Spread | undefined
  /** The same ratio of processor time for each request, which other work on the machine disturbs less. */
  readonly cpu?: Spread | undefined
}

type Optional<A> = A | undefined

const ratioOf = (values: Optional<ReadonlyArray<number>>, others: Optional<ReadonlyArray<number>>): Optional<Spread> =>
  values === undefined || others === undefined || values.length === 0 ? undefined : ratio(values, others)

const throughputBar = (results: Results, workload: string, than: string, title: string, value: number): Bar => {
  const rounds = results.throughput?.data[workload]
  return {
    what: `${workload} against ${title}`,
    bound: "at least",
    value,
    measured: ratioOf(rounds?.["layerhost"]?.perSecond, rounds?.[than]?.perSecond),
    cpu: ratioOf(rounds?.[than]?.cpu, rounds?.["layerhost"]?.cpu)
  }
}

const fastify = "Fastify with the same features"

export const barsOf = (results: Results): ReadonlyArray<Bar> => {
  const toRival = { W1: 1.4, W2: 1.4, W3: 1.1, W4: 1.4, W5: 1.25 }
  const toNode = { W1: 0.8, W2: 0.8, W3: 0.85, W4: 0.8, W5: 0.6 }
  const plugins = results.plugins?.data.requests
  const tracing = results.tracing?.data
  const latency = results.latency?.data
  const memory = results.memory?.data
  const coldStart = results.coldStart?.data
  const startBar = (name: string) => {
    const of = (what: keyof Started) =>
      ratioOf(
        coldStart?.[name]?.map((started) => started[what]),
        coldStart?.[rival]?.map((started) => started[what])
      )
    return { measured: of("millis"), cpu: of("cpu") }
  }
  const secret = (name: string, what: string, value: number): Bar => {
    const found = results.secrets?.data.find((each) => each.name === name)
    return { what, bound: "at least", value, measured: ratioOf(found?.bareMicros, found?.micros) }
  }
  return [
    ...Object.entries(toRival).map(([name, value]) => throughputBar(results, name, rival, fastify, value)),
    ...Object.entries(toNode).map(([name, value]) => throughputBar(results, name, baseline, "bare `node:http`", value)),
    ...["W1", "W2"].map((name): Bar => ({
      what: `100 plugins mounted against 1, ${name}`,
      bound: "at least",
      value: 0.95,
      measured: ratioOf(plugins?.[name]?.["100"].perSecond, plugins?.[name]?.["1"].perSecond),
      cpu: ratioOf(plugins?.[name]?.["1"].cpu, plugins?.[name]?.["100"].cpu)
    })),
    ...["W1", "W2"].flatMap((name) =>
      (
        [
          [1, 0.9],
          [2, 0.65]
        ] as const
      ).map(([way, value]): Bar => ({
        what: `traced, ${ways[way]}, against untraced, ${name}`,
        bound: "at least",
        value,
        measured: ratioOf(tracing?.[name]?.[ways[way]].perSecond, tracing?.[name]?.untraced.perSecond),
        cpu: ratioOf(tracing?.[name]?.untraced.cpu, tracing?.[name]?.[ways[way]].cpu)
      }))
    ),
    ...["W1", "W2"].flatMap((name) =>
      (["p50", "p99"] as const).map((quantile): Bar => ({
        what: `${quantile} at a fixed rate against ${fastify}, ${name}`,
        bound: "at most",
        value: 1,
        measured: ratioOf(latency?.[name]?.["layerhost"]?.[quantile], latency?.[name]?.[rival]?.[quantile])
      }))
    ),
    {
      what: `peak memory under W2 against ${fastify}`,
      bound: "at most",
      value: 1,
      measured: ratioOf(memory?.["layerhost"], memory?.[rival])
    },
    {
      what: `the same as one file`,
      bound: "at most",
      value: 1,
      measured: ratioOf(memory?.[bundledPeer], memory?.[rival])
    },
    {
      what: `cold start of \`npm start\`'s service against ${fastify}`,
      bound: "at most",
      value: 1.2,
      ...startBar(example)
    },
    {
      what: `the same as one file`,
      bound: "at most",
      value: 0.5,
      ...startBar(bundledExample)
    },
    {
      what: `the same as one file, with Node's compile cache`,
      bound: "at most",
      value: 0.5,
      ...startBar(cachedBundledExample)
    },
    secret("file, get", "file secret get against readFile and JSON.parse", 0.6),
    secret("file, create", "file secret create against temporary file, fsync, rename, directory fsync", 0.9),
    secret("server, get", "server secret get against bare undici, 32 at once", 0.6)
  ]
}

/** Judged by processor time where there is one: it is the same ratio, and other work on the machine disturbs it least. */
export const isMet = ({ bound, cpu, measured, value }: Bar): boolean | undefined => {
  const ratio = (cpu ?? measured)?.median
  return ratio === undefined ? undefined : bound === "at least" ? ratio >= value : ratio <= value
}
