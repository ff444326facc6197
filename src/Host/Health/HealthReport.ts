/**
 * Health reports: what a probe is told, and the JSON that it is told in.
 */
import * as Duration from "effect/Duration"
import type { HealthStatus } from "../../Plugins/HealthCheck.ts"

/** What one check found in one run. */
export interface HealthReportEntry {
  readonly name: string
  readonly status: HealthStatus
  readonly description: string | null
  readonly tags: ReadonlyArray<string>
  readonly duration: Duration.Duration
  /** The message of what the check failed with or threw; never a stack. */
  readonly exceptionMessage: string | null
}

/** The entries of one run of a group of checks, and their verdict. */
export interface HealthReport {
  readonly status: HealthStatus
  readonly totalDuration: Duration.Duration
  readonly entries: ReadonlyArray<HealthReportEntry>
}

/** How well each status is, as a number that can be compared and measured. */
export const levels: { readonly [Status in HealthStatus]: number } = { Unhealthy: 0, Degraded: 0.5, Healthy: 1 }

/** Makes a report of entries: the worst of them decides, and no entry at all is `Healthy`. */
export const make = (entries: ReadonlyArray<HealthReportEntry>, totalDuration: Duration.Duration): HealthReport => ({
  status: entries.reduce<HealthStatus>(
    (worst, { status }) => (levels[status] < levels[worst] ? status : worst),
    "Healthy"
  ),
  totalDuration,
  entries
})

/** The body of a health endpoint. Absent values are `null`, not left out. */
export const toJson = (report: HealthReport) => ({
  status: report.status,
  totalDuration: formatDuration(report.totalDuration),
  entries: report.entries.map((entry) => ({
    name: entry.name,
    status: entry.status,
    description: entry.description,
    tags: entry.tags,
    duration: formatDuration(entry.duration),
    exceptionMessage: entry.exceptionMessage
  }))
})

/** Writes a duration as `hh:mm:ss.fff`, with `d.` in front when it lasts a day or more. What is below a millisecond is cut off. */
export const formatDuration = (duration: Duration.Duration): string => {
  const { days, hours, minutes, seconds, millis } = Duration.parts(duration)
  const time = [hours, minutes, seconds].map((part) => `${part}`.padStart(2, "0")).join(":")
  return `${days > 0 ? `${days}.` : ""}${time}.${`${millis}`.padStart(3, "0")}`
}
