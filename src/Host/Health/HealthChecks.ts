/**
 * The health checks of a host: runs those of a group side by side, and tells what they found.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import type { HealthStatus } from "../../Plugins/HealthCheck.ts"
import * as CheckGroup from "./CheckGroup.ts"
import * as HealthReport from "./HealthReport.ts"
import type { RegisteredCheck } from "./RegisteredCheck.ts"

/** Runs registered checks by their tags. Case does not matter in tags, as it does not in the paths made of them. */
export interface HealthChecks {
  /** Every tag that some check carries, in lower case. */
  readonly tags: ReadonlySet<string>
  /**
   * Runs the checks with a tag, and reports on them in the order of their registration. Calls that overlap share one
   * run, which goes on for as long as one of its callers waits.
   */
  readonly run: (tag: string) => Effect.Effect<HealthReport.HealthReport>
}

/** A run under way, and how many wait for it. */
interface Run {
  readonly fiber: Fiber.Fiber<HealthReport.HealthReport>
  callers: number
}

/** Makes the runner of the checks, whose order is that of registration. Runs end with the scope. */
export const make = Effect.fnUntraced(function* (
  checks: ReadonlyArray<RegisteredCheck>
): Effect.fn.Return<HealthChecks, never, Scope.Scope> {
  const publish = publisher(yield* Effect.context<never>())
  const tags = new Set(checks.flatMap(({ check }) => check.tags.map((tag) => tag.toLowerCase())))
  const groups = new Map(
    Array.from(tags, (tag) => [tag, checks.filter(({ check }) => check.tags.some((own) => own.toLowerCase() === tag))])
  )

  const runs = new Map<string, Run>()
  yield* Effect.addFinalizer(() => Fiber.interruptAll(Array.from(runs.values(), ({ fiber }) => fiber)))

  const begin = (tag: string, context: Context.Context<never>): Run => {
    // Calls that come while others are taken up share the run.
    const report = Effect.flatMap(Effect.yieldNow, () => CheckGroup.run(groups.get(tag) ?? [], publish))
    const run = { fiber: Effect.runForkWith(context)(report, { uninterruptible: true }), callers: 0 }
    runs.set(tag, run)
    run.fiber.addObserver(() => forget(tag, run))
    return run
  }

  const forget = (tag: string, run: Run): void => {
    if (runs.get(tag) === run) runs.delete(tag)
  }

  const leave = (tag: string, run: Run): void => {
    if (--run.callers > 0) return
    forget(tag, run)
    run.fiber.interruptUnsafe()
  }

  const run = (tag: string) =>
    Effect.withFiber<HealthReport.HealthReport>((caller) =>
      Effect.callback((resume) => {
        const run = runs.get(tag) ?? begin(tag, caller.context)
        run.callers++
        run.fiber.addObserver(resume)
        return Effect.sync(() => leave(tag, run))
      })
    )

  return { tags, run: (tag) => run(tag.toLowerCase()) }
})

/**
 * Makes what publishes what a check found, where that is not what it found before: as a gauge, and in the log. A check is
 * `Healthy` until it says otherwise.
 */
const publisher = (context: Context.Context<never>): CheckGroup.Publish => {
  const statuses = new Map<string, HealthStatus>()
  return (registered, entry) => {
    const before = statuses.get(entry.name)
    if (before === entry.status) return Effect.void
    statuses.set(entry.name, entry.status)
    statusGauge(entry.name).updateUnsafe(HealthReport.levels[entry.status], context)
    return before === undefined && entry.status === "Healthy"
      ? Effect.void
      : logChange(registered, before ?? "Healthy", entry)
  }
}

const logChange = (
  { check, plugin }: RegisteredCheck,
  before: HealthStatus,
  { status, description, exceptionMessage }: HealthReport.HealthReportEntry
) => {
  const why = [description, exceptionMessage].filter((part) => part !== null).join(" ")
  const message = `Health check "${check.name}" of plugin "${plugin}" went from ${before} to ${status}${why && `: ${why}`}`
  const log = HealthReport.levels[status] < HealthReport.levels[before] ? Effect.logWarning : Effect.logInfo
  return Effect.annotateLogs(log(message), "namespace", "layerhost.health")
}

const statusGauge = (check: string) =>
  Metric.gauge("layerhost.health.status", {
    description: "What each health check found last: 1 healthy, 0.5 degraded, 0 unhealthy",
    attributes: { check }
  })
