/**
 * The health checks of a host: runs those of a group side by side, and tells what they found.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as RcMap from "effect/RcMap"
import type * as Scope from "effect/Scope"
import type { HealthCheck, HealthCheckResult, HealthStatus } from "../../Plugins/HealthCheck.ts"
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

/** The time limit of a check that sets none. */
const defaultTimeout = Duration.seconds(5)

/** Makes the runner of the checks, whose order is that of registration. Runs end with the scope. */
export const make = Effect.fnUntraced(function* (
  checks: ReadonlyArray<RegisteredCheck>
): Effect.fn.Return<HealthChecks, never, Scope.Scope> {
  const statuses = new Map<RegisteredCheck, HealthStatus>()

  /** Publishes a check's status, and logs it where it is not what it was. A check is `Healthy` until it says otherwise. */
  const publish = (registered: RegisteredCheck, entry: HealthReport.HealthReportEntry) =>
    Effect.suspend(() => {
      const before = statuses.get(registered) ?? "Healthy"
      statuses.set(registered, entry.status)
      const update = Metric.update(statusGauge(entry.name), HealthReport.levels[entry.status])
      return before === entry.status ? update : Effect.andThen(update, logChange(registered, before, entry))
    })

  const runOne = (registered: RegisteredCheck) =>
    Effect.tap(runCheck(registered.check), (entry) => publish(registered, entry))

  const runs = yield* RcMap.make({
    lookup: (tag: string) =>
      Effect.forEach(
        checks.filter(({ check }) => check.tags.some((own) => own.toLowerCase() === tag)),
        runOne,
        { concurrency: "unbounded" }
      ).pipe(
        Effect.timed,
        Effect.map(([duration, entries]) => HealthReport.make(entries, duration))
      )
  })

  return {
    tags: new Set(checks.flatMap(({ check }) => check.tags.map((tag) => tag.toLowerCase()))),
    run: (tag) => Effect.scoped(RcMap.get(runs, tag.toLowerCase()))
  }
})

/**
 * Runs one check within its time limit.
 *
 * The check has a fiber of its own: what it does to itself, interruption included, is its result, and one that cannot
 * be interrupted is left behind at the limit instead of holding up the report.
 */
const runCheck = (check: HealthCheck): Effect.Effect<HealthReport.HealthReportEntry> => {
  const limit = check.timeout === undefined ? defaultTimeout : Duration.fromInputUnsafe(check.timeout)
  return Effect.acquireUseRelease(
    Effect.forkDetach(Effect.map(check.check, found)),
    (fiber) => Effect.timed(Effect.timeoutOption(Fiber.await(fiber), limit)),
    (fiber) => Effect.sync(() => fiber.interruptUnsafe())
  ).pipe(
    Effect.map(([duration, exit]) => ({
      name: check.name,
      tags: check.tags,
      duration,
      ...Option.match(exit, {
        onNone: () => failed({ description: `The check timed out after ${Duration.format(limit)}.` }),
        onSome: Exit.match({
          onSuccess: (result) => result,
          onFailure: (cause) => failed({ exceptionMessage: messageOf(cause) })
        })
      })
    }))
  )
}

type Outcome = Pick<HealthReport.HealthReportEntry, "status" | "description" | "exceptionMessage">

const found = ({ status, description }: HealthCheckResult): Outcome => ({ status, description, exceptionMessage: null })

const failed = (why: Partial<Outcome>): Outcome => ({
  status: "Unhealthy",
  description: null,
  exceptionMessage: null,
  ...why
})

/** The message alone of what a check ended with: the rest of a value could hold anything, secrets too. */
const messageOf = (cause: Cause.Cause<unknown>): string => {
  if (Cause.hasInterruptsOnly(cause)) return "The check was interrupted."
  const error = Cause.squash(cause)
  if (typeof error === "string") return error
  const { message, _tag } = Object(error) as { readonly message?: unknown; readonly _tag?: unknown }
  if (typeof message === "string" && message !== "") return message
  return typeof _tag === "string" ? _tag : "The check failed without a message."
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
