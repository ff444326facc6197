/**
 * Metrics of the process, by the names of OpenTelemetry's semantic conventions
 * (https://opentelemetry.io/docs/specs/semconv/system/process-metrics/).
 */
import type * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { readdirSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import * as Observed from "./Observed.ts"

/** Collects until the scope closes. What only Linux tells is left out elsewhere. */
export const collect = (): Effect.Effect<void, never, Scope> =>
  Observed.register([
    ...cpu(),
    {
      name: "process.memory.usage",
      description: "Physical memory in use.",
      unit: "By",
      kind: "upDownCounter",
      read: () => process.memoryUsage.rss()
    },
    ...(process.platform === "linux" ? linux : []),
    {
      name: "process.uptime",
      description: "Time that the process has been running.",
      unit: "s",
      kind: "gauge",
      read: () => process.uptime()
    },
    {
      // Not in the conventions; under this name Prometheus' own libraries tell it.
      name: "process.start_time",
      description: "When the process started, in seconds since the Unix epoch.",
      unit: "s",
      kind: "gauge",
      read: () => performance.timeOrigin / 1e3
    }
  ])

const cpu = (): ReadonlyArray<Observed.Observed> => {
  let lastTime = performance.now()
  let lastUsage = process.cpuUsage()
  const utilization = Observed.shared(() => {
    const time = performance.now()
    const usage = process.cpuUsage()
    // CPU time comes in microseconds, the clock in milliseconds.
    const elapsed = (time - lastTime) * 1e3 * availableParallelism()
    const share = {
      user: elapsed === 0 ? 0 : (usage.user - lastUsage.user) / elapsed,
      system: elapsed === 0 ? 0 : (usage.system - lastUsage.system) / elapsed
    }
    lastTime = time
    lastUsage = usage
    return share
  })
  return (["user", "system"] as const).flatMap((mode): ReadonlyArray<Observed.Observed> => [
    {
      name: "process.cpu.time",
      description: "CPU time by mode.",
      unit: "s",
      attributes: { "cpu.mode": mode },
      kind: "counter",
      read: () => process.cpuUsage()[mode] / 1e6
    },
    {
      name: "process.cpu.utilization",
      description: "Share of the available CPU time that the process took since this was last read.",
      unit: "1",
      attributes: { "cpu.mode": mode },
      kind: "gauge",
      read: () => utilization()[mode]
    }
  ])
}

const linux: ReadonlyArray<Observed.Observed> = [
  {
    name: "process.memory.virtual",
    description: "Virtual memory of the process.",
    unit: "By",
    kind: "upDownCounter",
    read: () => readStatus("VmSize") * 1024
  },
  {
    name: "process.thread.count",
    description: "Threads of the process.",
    unit: "{thread}",
    kind: "upDownCounter",
    read: () => readStatus("Threads")
  },
  {
    name: "process.unix.file_descriptor.count",
    description: "Open file descriptors.",
    unit: "{file_descriptor}",
    kind: "upDownCounter",
    read: () => readdirSync("/proc/self/fd").length
  }
]

const readStatus = (field: string): number => Number(new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(status())?.[1] ?? 0)

const status = Observed.shared(() => readFileSync("/proc/self/status", "utf8"))
