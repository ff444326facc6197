/**
 * Health checks: what a plugin says of its own state when a probe asks.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/** Worst first: `Unhealthy` takes the service out of traffic, `Degraded` does not. */
export type HealthStatus = "Unhealthy" | "Degraded" | "Healthy"

/** What one run of a check found. */
export interface HealthCheckResult {
  readonly status: HealthStatus
  readonly description: string | null
}

/** A named, tagged check. A check that fails or throws counts as `Unhealthy`, with its error's message. */
export interface HealthCheck<out R = never> {
  /** Unique in a host, whatever its case. */
  readonly name: string
  /** `liveness` and `readiness` put the check in the probe of that name; any other tag groups it. */
  readonly tags: ReadonlyArray<string>
  /** How long one run may take before it counts as `Unhealthy`; 5 seconds when absent. */
  readonly timeout: Duration.Input | undefined
  readonly check: Effect.Effect<HealthCheckResult, unknown, R>
}

/** Any check, whatever it requires. */
export type Any = HealthCheck<any>

/** Makes a check that a plugin lists under `healthChecks`. Its `Scope` closes when the run ends. */
export const make = <R = never>(options: {
  readonly name: string
  readonly tags: ReadonlyArray<string>
  readonly timeout?: Duration.Input
  readonly check: Effect.Effect<HealthCheckResult, unknown, R>
}): HealthCheck<NoInfer<R>> => ({ ...options, timeout: options.timeout })

/** All is well. */
export const healthy = (description: string | null = null): HealthCheckResult => ({ status: "Healthy", description })

/** Something is off, but requests are still served. */
export const degraded = (description: string): HealthCheckResult => ({ status: "Degraded", description })

/** Requests should go elsewhere. */
export const unhealthy = (description: string): HealthCheckResult => ({ status: "Unhealthy", description })
