import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import { HealthCheck, Middleware, Plugin, PluginApi, Section, Task } from "layerhost/Plugins"
import { Maintenance } from "./Maintenance.ts"
import { MaintenanceApi } from "./MaintenanceApi.ts"
import { MaintenanceConfig } from "./MaintenanceConfig.ts"

const handlers = HttpApiBuilder.group(
  MaintenanceApi,
  "maintenance",
  Effect.fnUntraced(function* (group) {
    const { isOn } = yield* Maintenance
    return group.handleAll({ status: () => Effect.map(isOn, (on) => ({ isOn: on })) })
  })
)

/** What is answered under maintenance, too: those who run the service still want to see it. */
const alwaysOpen = /^\/(maintenance|health\/.*|metrics)(\?|$)/

/** Answers everything else with 503. */
const closed = Middleware.make({
  name: "maintenance",
  order: -100,
  build: Effect.gen(function* () {
    const { isOn } = yield* Maintenance
    const { retryAfter } = yield* MaintenanceConfig
    const answer = HttpServerResponse.empty({ status: 503, headers: { "retry-after": String(retryAfter) } })
    return (httpEffect) =>
      Effect.gen(function* () {
        const { url } = yield* HttpServerRequest.HttpServerRequest
        return (yield* isOn) && !alwaysOpen.test(url) ? answer : yield* httpEffect
      })
  })
})

const check = HealthCheck.make({
  name: "maintenance",
  tags: ["readiness"],
  check: Effect.gen(function* () {
    const { isOn } = yield* Maintenance
    return (yield* isOn) ? HealthCheck.degraded("The service is under maintenance") : HealthCheck.healthy()
  })
})

/** Switches as the configuration does. */
const follow = Task.make(
  "follow maintenance",
  Effect.gen(function* () {
    const { set } = yield* Maintenance
    yield* Stream.runForEach(Section.changes(MaintenanceConfig), ({ enabled }) => set(enabled))
  })
)

/** Closes a service for maintenance. */
export const maintenance = Plugin.make({
  id: "maintenance",
  config: [MaintenanceConfig],
  services: Maintenance.layer,
  apis: [PluginApi.make(MaintenanceApi, handlers)],
  middleware: [closed],
  healthChecks: [check],
  tasks: [follow]
})
