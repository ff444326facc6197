/** The results as Markdown. */
import { rate } from "../measure/latency.ts"
import { counts } from "../measure/plugins.ts"
import { ways } from "../measure/tracing.ts"
import { baseline, peers } from "../peers.ts"
import type { Circumstances, PartName, Results } from "../results.ts"
import { ratio, spread } from "../statistics.ts"
import { workloads } from "../workloads.ts"
import { barsOf, isMet } from "./bars.ts"
import { chart } from "./chart.ts"
import { table, withRange } from "./markdown.ts"

const titleOf = (name: string): string =>
  peers.find((peer) => peer.name === name)?.title ?? (name.startsWith("npm") ? `\`${name}\`` : name)

const marks = ["", " ¹", " ²"]
const lessTexts = [...new Set(peers.flatMap(({ less }) => Object.values(less)))]
const markOf = (peer: string, workload: string): string => {
  const text = peers.find(({ name }) => name === peer)?.less[workload]
  return text === undefined ? "" : marks[1 + lessTexts.indexOf(text)]!
}
const footnote = lessTexts.map((text, i) => `${marks[i + 1]!.trim()} ${text}`).join("; ")

/** A table of peers by workloads. */
const byPeer = <A>(
  data: Record<string, Record<string, A>>,
  cell: (of: A, baseline: A | undefined) => string,
  head = ""
): string => {
  const measured = workloads.filter(({ name }) => name in data)
  const names = peers
    .map(({ name }) => name)
    .filter((name) => measured.some((workload) => name in data[workload.name]!))
  const rows = names.map((name) => [
    titleOf(name),
    ...measured.map((workload) => {
      const { [name]: of, [baseline]: bare } = data[workload.name]!
      return of === undefined ? "" : cell(of, bare) + markOf(name, workload.name)
    })
  ])
  return table([head, ...measured.map(({ name, title }) => `${name} ${title}`)], rows)
}

const withFootnote = (table: string): string => `${table}\n\n${footnote}`

/** How much of bare node:http's throughput the same processor time gives. */
export const costTable = ({ throughput }: Results): string =>
  throughput === undefined
    ? ""
    : withFootnote(byPeer(throughput.data, (of, bare) => (bare ? withRange(ratio(bare.cpu, of.cpu)) : "")))

export const barsTable = (results: Results): string =>
  table(
    ["what", "bar", "measured", "by processor time", ""],
    barsOf(results).map((bar) => {
      const met = isMet(bar)
      return [
        bar.what,
        `${bar.bound} ${bar.value}`,
        bar.measured ? withRange(bar.measured) : "not measured",
        bar.cpu ? withRange(bar.cpu) : "",
        met === undefined ? "" : met ? "met" : "**not met**"
      ]
    })
  )

const machineOf = ({ node, cpu, processors, isPinned, versions }: Circumstances): string =>
  `Node ${node}; ${processors} processors, ${cpu}${isPinned ? ", one for the server and one for the load" : ""}; ` +
  Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ")

/** What most parts share stands once, above them. */
const newest = (results: Results): Circumstances | undefined =>
  Object.values(results)
    .map(({ circumstances }) => circumstances)
    .toSorted((one, other) => one.date.localeCompare(other.date))
    .at(-1)

const machine = (results: Results): string => {
  const circumstances = newest(results)
  return circumstances === undefined
    ? ""
    : `${machineOf(circumstances)}.\n\nEach part tells when it was measured and the load average of the machine before and after. ` +
        "An idle machine has 0 before and less than 2 after; with more than that, other work was in the way, and processor time " +
        "and the best rounds say more than the medians of times.\n"
}

const where = (results: Results, circumstances: Circumstances): string => {
  const { date, load } = circumstances
  const [here, above] = [machineOf(circumstances), machineOf(newest(results)!)]
  return (
    `${date.replace("T", " ")} UTC, load average ${load[0].toFixed(1)} before and ${load[1].toFixed(1)} after` +
    (here === above ? "" : `; ${here}`)
  )
}

const section = <Name extends PartName>(
  results: Results,
  name: Name,
  title: string,
  text: (data: NonNullable<Results[Name]>["data"]) => string
): string => {
  const part = results[name]
  return part === undefined
    ? ""
    : `### ${title}\n\n${text(part.data)}\n\n<sub>${where(results, part.circumstances)}.</sub>\n`
}

const code = (text: string): string => `\`\`\`text\n${text.trim()}\n\`\`\``

export const page = (results: Results): string =>
  [
    machine(results),
    `### The bars\n\nMedians of the ratios of single rounds, with their ranges. A bar is met or not by processor time where that was measured.\n\n${barsTable(results)}\n`,
    section(results, "throughput", "Throughput", (data) =>
      [
        "What the same processor time gives, as a ratio to bare `node:http` in the same round:",
        "![Throughput beside bare node:http](benchmarks.svg)",
        costTable(results),
        "Requests in a second, as a ratio to bare `node:http` in the same round:",
        byPeer(data, (of, bare) => (bare ? withRange(ratio(of.perSecond, bare.perSecond)) : "")),
        "Requests in a second:",
        byPeer(data, ({ perSecond }) => withRange(spread(perSecond), 0)),
        "Processor time of the server for each request, in µs:",
        byPeer(data, ({ cpu }) => withRange(spread(cpu), 1))
      ].join("\n\n")
    ),
    section(results, "latency", "Latency", (data) =>
      ["p50", "p99"]
        .map(
          (quantile) =>
            `${quantile} in ms, at ${rate.toLocaleString("en")} requests a second:\n\n${byPeer(data, (of) => withRange(spread(of[quantile as "p50"])))}`
        )
        .join("\n\n")
    ),
    section(results, "memory", "Peak memory under W2", (data) =>
      table(
        ["", "MiB"],
        Object.entries(data).map(([name, bytes]) => [
          titleOf(name),
          withRange(spread(bytes.map((n) => n / 2 ** 20)), 0)
        ])
      )
    ),
    section(results, "coldStart", "Cold start", (data) =>
      table(
        ["", "ms to the first answer", "ms of processor time"],
        Object.entries(data).map(([name, started]) => [
          titleOf(name),
          withRange(spread(started.map(({ millis }) => millis)), 0),
          withRange(spread(started.map(({ cpu }) => cpu)), 0)
        ])
      )
    ),
    section(results, "plugins", "Number of plugins", ({ start, requests }) =>
      table(
        [
          "plugins",
          "ms to the first answer",
          ...Object.keys(requests).flatMap((name) => [`${name} against 1 plugin`, `${name}, processor µs`])
        ],
        counts.map((count) => [
          Number(count).toLocaleString("en"),
          withRange(spread(start[count]), 0),
          ...Object.values(requests).flatMap((by) => [
            withRange(ratio(by[count].perSecond, by["1"].perSecond)),
            withRange(spread(by[count].cpu), 1)
          ])
        ])
      )
    ),
    section(results, "tracing", "Tracing", (data) =>
      table(
        ["", ...Object.keys(data).flatMap((name) => [`${name} against untraced`, `${name}, processor µs`])],
        ways.map((way) => [
          way,
          ...Object.values(data).flatMap((by) => [
            withRange(ratio(by[way].perSecond, by.untraced.perSecond)),
            withRange(spread(by[way].cpu), 1)
          ])
        ])
      )
    ),
    section(results, "secrets", "Secrets, codes, ids", (data) =>
      table(
        ["", "µs", "against", "µs", "ratio"],
        data.map(({ name, micros, against, bareMicros }) => [
          name,
          withRange(spread(micros), 1),
          against,
          ...(bareMicros.length === 0
            ? ["", ""]
            : [withRange(spread(bareMicros), 1), withRange(ratio(bareMicros, micros))])
        ])
      )
    ),
    section(results, "configuration", "Loading configuration", code),
    section(results, "generate", "Finding plugins", code),
    section(results, "telemetry", "Telemetry, and collectors in trouble", (text) => text.trim())
  ]
    .filter((text) => text !== "")
    .join("\n")

export const throughputChart = ({ throughput }: Results): string | undefined => {
  if (throughput === undefined) return undefined
  const { data } = throughput
  return chart(
    peers.map(({ title }) => title),
    workloads.flatMap(({ name, title }) => {
      const { [name]: by } = data
      const { [baseline]: bare } = by ?? {}
      if (by === undefined || bare === undefined) return []
      const bars = peers.flatMap((peer, index) => {
        const { [peer.name]: of } = by
        return of === undefined ? [] : [{ peer: index, value: ratio(bare.cpu, of.cpu) }]
      })
      return [{ name, title, bars }]
    })
  )
}
