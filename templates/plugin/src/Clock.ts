/** A service that later plugins may use. */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { ClockConfig } from "./ClockConfig.ts"

export class Clock extends Context.Service<
  Clock,
  {
    /** The time in the time zone of the configuration. */
    readonly now: Effect.Effect<DateTime.Zoned>
  }
>()("my-plugin/Clock") {
  static readonly layer = Layer.effect(
    Clock,
    Effect.map(ClockConfig, ({ zone }) => ({
      now: Effect.map(DateTime.now, DateTime.setZone(zone))
    }))
  )
}
