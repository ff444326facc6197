/** A service with an installed plugin package: what the package brings works in the service. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { TestHost } from "layerhost/testing"
import { MaintenanceApi } from "maintenance-plugin"
import { plugins } from "../src/plugins.generated.ts"

const notices = { texts: ["The canteen is closed on Friday."] }

const entriesOf = (body: unknown) =>
  (body as { readonly entries: ReadonlyArray<{ readonly name: string; readonly status: string }> }).entries
    .map(({ name, status }) => `${name}: ${status}`)
    .toSorted()

it.effect("serves notices, with checks of the package and of its own", () =>
  Effect.gen(function* () {
    const { client, request } = yield* TestHost.make(plugins, { config: { notices } })
    assert.deepStrictEqual((yield* request("/notices")).json, notices.texts)
    const { maintenance } = yield* client(MaintenanceApi)
    assert.deepStrictEqual(yield* maintenance.status(), { isOn: false })
    const readiness = yield* request("/health/readiness")
    assert.includeMembers(entriesOf(readiness.json), ["maintenance: Healthy", "notices: Healthy"])
  })
)

it.effect("answers 503 under maintenance, but still tells its state", () =>
  Effect.gen(function* () {
    const config = { notices: { texts: [] }, maintenance: { enabled: true, retryAfter: 7 } }
    const { client, request } = yield* TestHost.make(plugins, { config })
    const closed = yield* request("/notices")
    assert.deepStrictEqual([closed.status, closed.headers.get("retry-after")], [503, "7"])
    const { maintenance } = yield* client(MaintenanceApi)
    assert.deepStrictEqual(yield* maintenance.status(), { isOn: true })
    const readiness = yield* request("/health/readiness")
    assert.strictEqual(readiness.status, 200)
    assert.includeMembers(entriesOf(readiness.json), ["maintenance: Degraded", "notices: Degraded"])
  })
)
