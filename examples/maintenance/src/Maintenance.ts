import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Ref from "effect/Ref"
import { MaintenanceConfig } from "./MaintenanceConfig.ts"

/** Whether the service is under maintenance; other plugins may ask, and say. */
export class Maintenance extends Context.Service<
  Maintenance,
  {
    readonly isOn: Effect.Effect<boolean>
    readonly set: (isOn: boolean) => Effect.Effect<void>
  }
>()("maintenance-plugin/Maintenance") {
  /** Begins as the configuration says. */
  static readonly layer = Layer.effect(
    Maintenance,
    Effect.gen(function* () {
      const { enabled } = yield* MaintenanceConfig
      const state = yield* Ref.make(enabled)
      return { isOn: Ref.get(state), set: (isOn) => Ref.set(state, isOn) }
    })
  )
}
