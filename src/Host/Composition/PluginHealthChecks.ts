/**
 * The health checks of all plugins, and what can be wrong with them before they run.
 */
import * as Effect from "effect/Effect"
import type * as HealthCheck from "../../Plugins/HealthCheck.ts"
import { duplicateNames, invalidTags, type RegisteredCheck } from "../Health/RegisteredCheck.ts"
import type { BuiltPlugin, PluginBuilder } from "./PluginBuilder.ts"

/** Gathers the health checks of all plugins, behind those of the host. */
export const gather = Effect.fnUntraced(function* (
  builder: PluginBuilder,
  plugins: ReadonlyArray<BuiltPlugin>,
  builtIn: ReadonlyArray<RegisteredCheck>
) {
  const gathered = [...builtIn]
  for (const { plugin, context } of plugins) {
    const checks = Effect.isEffect(plugin.healthChecks)
      ? yield* builder.run(plugin, "healthChecks", plugin.healthChecks, context)
      : plugin.healthChecks
    for (const check of checks ?? []) {
      // What a run acquires is released when it ends. It belongs to no request, since several may share it.
      const scoped = Effect.scoped(check.check) as HealthCheck.HealthCheck["check"]
      gathered.push({ plugin: plugin.id, check: { ...check, check: Effect.updateContext(scoped, () => context) } })
    }
  }
  reportFaults(builder, gathered)
  yield* Effect.logDebug(`Registered the health checks ${gathered.map(({ check }) => check.name).join(", ")}`)
  return gathered
})

const reportFaults = (builder: PluginBuilder, checks: ReadonlyArray<RegisteredCheck>): void => {
  for (const { name, plugins } of duplicateNames(checks)) {
    const [first, ...others] = plugins
    for (const plugin of others) {
      const message = `a health check named "${name}" is already that of plugin "${first}"; choose another name`
      builder.problems.push({ plugin, phase: "healthChecks", message })
    }
  }
  for (const { tag, check, plugin } of invalidTags(checks)) {
    const message = `the tag "${tag}" of health check "${check}" cannot stand in a path; use letters, digits, "-", "_" and "."`
    builder.problems.push({ plugin, phase: "healthChecks", message })
  }
}
