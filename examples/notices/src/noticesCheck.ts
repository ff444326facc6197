import * as Effect from "effect/Effect"
import { HealthCheck } from "layerhost/Plugins"
import { Notices } from "./Notices.ts"

/** A board without notices is no reason to send requests elsewhere. It stands alone: no plugin lists it. */
export const noticesCheck = HealthCheck.make({
  name: "notices",
  tags: ["readiness"],
  check: Effect.map(Notices, ({ texts }) =>
    texts.length === 0 ? HealthCheck.degraded("There are no notices") : HealthCheck.healthy()
  )
})
