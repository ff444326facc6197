import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as HealthReport from "../../../src/Host/Health/HealthReport.ts"
import type { HealthStatus } from "../../../src/Plugins/HealthCheck.ts"

const entry = (status: HealthStatus): HealthReport.HealthReportEntry => ({
  name: status,
  status,
  description: null,
  tags: [],
  duration: Duration.zero,
  exceptionMessage: null
})

describe("HealthReport", () => {
  it.each<[Duration.Input, string]>([
    [0, "00:00:00.000"],
    [7, "00:00:00.007"],
    ["999999 nanos", "00:00:00.000"],
    ["1999999 nanos", "00:00:00.001"],
    [59_999, "00:00:59.999"],
    [60_000, "00:01:00.000"],
    ["61 minutes", "01:01:00.000"],
    [86_399_999, "23:59:59.999"],
    ["1 day", "1.00:00:00.000"],
    [86_400_000 * 400 + 3_723_004, "400.01:02:03.004"]
  ])("writes %s as %s", (duration, text) => {
    assert.strictEqual(HealthReport.formatDuration(Duration.fromInputUnsafe(duration)), text)
  })

  it.each<[ReadonlyArray<HealthStatus>, HealthStatus]>([
    [[], "Healthy"],
    [["Healthy"], "Healthy"],
    [["Healthy", "Degraded", "Healthy"], "Degraded"],
    [["Degraded", "Unhealthy", "Healthy"], "Unhealthy"],
    [["Unhealthy", "Degraded"], "Unhealthy"]
  ])("of %j is %s", (statuses, status) => {
    assert.strictEqual(HealthReport.make(statuses.map(entry), Duration.zero).status, status)
  })

  it("has exactly the documented JSON, absent values as null", () => {
    const full: HealthReport.HealthReportEntry = {
      name: "db",
      status: "Unhealthy",
      description: "away",
      tags: ["readiness", "db"],
      duration: Duration.millis(12),
      exceptionMessage: "refused"
    }
    assert.deepStrictEqual(HealthReport.toJson(HealthReport.make([full, entry("Healthy")], Duration.seconds(1))), {
      status: "Unhealthy",
      totalDuration: "00:00:01.000",
      entries: [
        {
          name: "db",
          status: "Unhealthy",
          description: "away",
          tags: ["readiness", "db"],
          duration: "00:00:00.012",
          exceptionMessage: "refused"
        },
        {
          name: "Healthy",
          status: "Healthy",
          description: null,
          tags: [],
          duration: "00:00:00.000",
          exceptionMessage: null
        }
      ]
    })
  })
})
