/**
 * The health endpoints: `/health/liveness`, `/health/readiness`, and `/health/{tag}` for every other tag of a check.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { HealthChecks } from "./HealthChecks.ts"
import * as HealthReport from "./HealthReport.ts"
import { hostEntryName } from "./RegisteredCheck.ts"

/**
 * Makes one route per group of checks; those of the two probes exist even where no check is in them.
 *
 * Once `shuttingDown` is true, readiness is `Unhealthy` whatever the checks find: the flag is read after they have run,
 * so that a run that began before cannot call a host ready that is not.
 */
export const make = (
  checks: HealthChecks,
  shuttingDown: Effect.Effect<boolean>
): ReadonlyArray<HttpRouter.Route<never, never>> => {
  const report = (tag: string) =>
    tag === "readiness"
      ? Effect.zipWith(checks.run(tag), shuttingDown, (report, isDown) => (isDown ? withHostEntry(report) : report))
      : checks.run(tag)
  return [...new Set(["liveness", "readiness", ...checks.tags])].map((tag) =>
    HttpRouter.route("GET", `/health/${tag}`, Effect.map(report(tag), toResponse))
  )
}

const withHostEntry = (report: HealthReport.HealthReport) =>
  HealthReport.make([...report.entries, hostEntry], report.totalDuration)

const hostEntry: HealthReport.HealthReportEntry = {
  name: hostEntryName,
  status: "Unhealthy",
  description: "The host is shutting down.",
  tags: ["readiness"],
  duration: Duration.zero,
  exceptionMessage: null
}

/** 503 takes the service out of traffic; a degraded one still serves. Those who share a run share its answer. */
const toResponse = (report: HealthReport.HealthReport) => {
  let response = responses.get(report)
  if (response === undefined) {
    response = HttpServerResponse.jsonUnsafe(HealthReport.toJson(report), {
      status: report.status === "Unhealthy" ? 503 : 200,
      headers: { "cache-control": "no-store" }
    })
    responses.set(report, response)
  }
  return response
}

const responses = new WeakMap<HealthReport.HealthReport, HttpServerResponse.HttpServerResponse>()
