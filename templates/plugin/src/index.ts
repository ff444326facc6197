/** A plugin for layerhost: a clock as a service, and `GET /clock`. */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Plugin } from "layerhost/Plugins"
import { Clock } from "./Clock.ts"
import { ClockConfig } from "./ClockConfig.ts"

export { Clock } from "./Clock.ts"

export const clock = Plugin.make({
  id: "my-plugin",
  config: [ClockConfig],
  services: Clock.layer,
  routes: HttpRouter.add(
    "GET",
    "/clock",
    Effect.gen(function* () {
      const now = yield* Effect.flatMap(Clock, (clock) => clock.now)
      return HttpServerResponse.jsonUnsafe({ now: DateTime.formatIsoZoned(now) })
    })
  )
})
