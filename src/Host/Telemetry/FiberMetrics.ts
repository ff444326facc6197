/**
 * The metrics of Effect's runtime about its fibers, counted in plain numbers that are looked up when somebody reads them.
 *
 * Effect's own implementation looks four series up for every fiber, and every request has one.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { FiberRuntimeMetricsService } from "effect/Metric"
import type { Scope } from "effect/Scope"
import * as Observed from "./Observed.ts"

class FiberCounts implements FiberRuntimeMetricsService {
  started = 0
  succeeded = 0
  failed = 0

  recordFiberStart(_context: Context.Context<never>): void {
    this.started++
  }

  recordFiberEnd(_context: Context.Context<never>, exit: Exit.Exit<unknown, unknown>): void {
    if (Exit.isSuccess(exit)) this.succeeded++
    else this.failed++
  }
}

/** Counts fibers, for `Metric.FiberRuntimeMetrics`, under the names that Effect gives its metrics; until the scope closes. */
export const make: Effect.Effect<FiberRuntimeMetricsService, never, Scope> = Effect.gen(function* () {
  const counts = new FiberCounts()
  yield* Observed.register([
    {
      name: "child_fibers_active",
      description: "The current count of active child fibers",
      unit: "{fiber}",
      kind: "gauge",
      read: () => counts.started - counts.succeeded - counts.failed
    },
    {
      name: "child_fibers_started",
      description: "The total number of child fibers that have been started",
      unit: "{fiber}",
      kind: "counter",
      read: () => counts.started
    },
    {
      name: "child_fiber_successes",
      description: "The total number of child fibers that have succeeded",
      unit: "{fiber}",
      kind: "counter",
      read: () => counts.succeeded
    },
    {
      name: "child_fiber_failures",
      description: "The total number of child fibers that have failed",
      unit: "{fiber}",
      kind: "counter",
      read: () => counts.failed
    }
  ])
  return counts
})
