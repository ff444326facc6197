/**
 * Runs health checks side by side, each within its time limit.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { HealthCheck, HealthCheckResult } from "../../Plugins/HealthCheck.ts"
import * as HealthReport from "./HealthReport.ts"
import type { RegisteredCheck } from "./RegisteredCheck.ts"

/** Told of what each check found, as soon as it did. */
export type Publish = (registered: RegisteredCheck, entry: HealthReport.HealthReportEntry) => Effect.Effect<void>

/** The time limit of a check that sets none. */
const defaultTimeout = Duration.seconds(5)

/** Runs the checks; all begin at once, and end where the run is interrupted. */
export const run = (
  group: ReadonlyArray<RegisteredCheck>,
  publish: Publish
): Effect.Effect<HealthReport.HealthReport> =>
  Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const start = clock.currentTimeNanosUnsafe()
    const running = group.map(({ check }) => begin(check, clock, fiber.context))
    const entries = Effect.forEach(
      running,
      ({ entry }, index) =>
        Effect.flatMapEager(entry, (entry) => Effect.mapEager(publish(group[index]!, entry), () => entry)),
      { concurrency: "unbounded" }
    )
    return Effect.onExit(Effect.interruptible(entries), () =>
      Effect.sync(() => running.forEach(({ fiber }) => fiber.interruptUnsafe()))
    ).pipe(Effect.map((entries) => HealthReport.make(entries, since(start, clock))))
  })

/** A check that has begun, and what it will have found. */
interface Running {
  readonly fiber: Fiber.Fiber<Outcome, unknown>
  readonly entry: Effect.Effect<HealthReport.HealthReportEntry>
}

/**
 * Begins a check. It has a fiber of its own: what it does to itself, interruption included, is its result, and one that cannot
 * be interrupted is left behind at the limit instead of holding up the report.
 */
const begin = (check: HealthCheck, clock: Clock.Clock, context: Context.Context<never>): Running => {
  const limit = check.timeout === undefined ? defaultTimeout : Duration.fromInputUnsafe(check.timeout)
  const start = clock.currentTimeNanosUnsafe()
  const entryOf = (outcome: Outcome): HealthReport.HealthReportEntry => ({
    name: check.name,
    tags: check.tags,
    duration: since(start, clock),
    ...outcome
  })
  const fiber = Effect.runForkWith(context)(Effect.map(check.check, found))
  const exit = fiber.pollUnsafe()
  if (exit !== undefined) return { fiber, entry: Effect.succeed(entryOf(outcomeOf(exit))) }
  const entry = Effect.map(Effect.timeoutOption(Fiber.await(fiber), limit), (exit) => {
    if (Option.isSome(exit)) return entryOf(outcomeOf(exit.value))
    fiber.interruptUnsafe()
    return entryOf(failed({ description: `The check timed out after ${Duration.format(limit)}.` }))
  })
  return { fiber, entry }
}

const since = (start: bigint, clock: Clock.Clock): Duration.Duration =>
  Duration.nanos(clock.currentTimeNanosUnsafe() - start)

type Outcome = Pick<HealthReport.HealthReportEntry, "status" | "description" | "exceptionMessage">

const found = ({ status, description }: HealthCheckResult): Outcome => ({ status, description, exceptionMessage: null })

const failed = (why: Partial<Outcome>): Outcome => ({
  status: "Unhealthy",
  description: null,
  exceptionMessage: null,
  ...why
})

const outcomeOf = (exit: Exit.Exit<Outcome, unknown>): Outcome =>
  Exit.isSuccess(exit) ? exit.value : failed({ exceptionMessage: messageOf(exit.cause) })

/** The message alone of what a check ended with: the rest of a value could hold anything, secrets too. */
const messageOf = (cause: Cause.Cause<unknown>): string => {
  if (Cause.hasInterruptsOnly(cause)) return "The check was interrupted."
  const error = Cause.squash(cause)
  if (typeof error === "string") return error
  const { message, _tag } = Object(error) as { readonly message?: unknown; readonly _tag?: unknown }
  if (typeof message === "string" && message !== "") return message
  return typeof _tag === "string" ? _tag : "The check failed without a message."
}
