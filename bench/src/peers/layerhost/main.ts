/** layerhost with its whole pipeline. `PLUGINS` is how many plugins there are, each with an API of its own. */
import * as Effect from "effect/Effect"
import { HealthCheck, Host, Plugin, PluginApi } from "layerhost"
import * as EffectService from "../effectService.ts"

const healthChecks = ["a", "b", "c"].map((name) =>
  HealthCheck.make({ name, tags: ["dependencies"], check: Effect.succeed(HealthCheck.healthy()) })
)

const plugin = (id: string, prefix?: `/${string}`) => {
  const { api, handlers } = EffectService.make(id, prefix)
  return Plugin.make({ id, apis: [PluginApi.make(api, handlers)], ...(prefix === undefined && { healthChecks }) })
}

const others = Array.from({ length: Number(process.env["PLUGINS"] ?? 1) - 1 }, (_, i) =>
  plugin(`other${i}`, `/other${i}`)
)

Host.runMain([plugin("bench"), ...others])
