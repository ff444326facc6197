/**
 * Registered health checks: the checks of all plugins in their order, and what the host looks at before it starts.
 */
import type { HealthCheck } from "../../Plugins/HealthCheck.ts"

/** A check whose requirements are met, and the plugin that listed it. */
export interface RegisteredCheck {
  readonly check: HealthCheck
  readonly plugin: string
}

/** The name of the entry with which the host itself fails readiness while it shuts down. */
export const hostEntryName = "host"

/** A name that more than one check has, whatever its case, and the plugins that list them. */
export interface DuplicateName {
  readonly name: string
  readonly plugins: ReadonlyArray<string>
}

/** Finds the names that clash. The host's own is taken from the start. */
export const duplicateNames = (checks: ReadonlyArray<RegisteredCheck>): ReadonlyArray<DuplicateName> => {
  const taken = new Map([[hostEntryName, { name: hostEntryName, plugins: ["layerhost/host"] }]])
  for (const { check, plugin } of checks) {
    const key = check.name.toLowerCase()
    const first = taken.get(key)
    if (first === undefined) taken.set(key, { name: check.name, plugins: [plugin] })
    else first.plugins.push(plugin)
  }
  return [...taken.values()].filter(({ plugins }) => plugins.length > 1)
}

/** A tag of which no `/health/{tag}` can be made, and the check that carries it. */
export interface InvalidTag {
  readonly tag: string
  readonly check: string
  readonly plugin: string
}

/** Finds the tags that are more than ASCII letters, digits, `_`, `-` and, within, `.`: all that a path takes as it is. */
export const invalidTags = (checks: ReadonlyArray<RegisteredCheck>): ReadonlyArray<InvalidTag> =>
  checks.flatMap(({ check, plugin }) =>
    check.tags.filter((tag) => !/^[\w-][\w.-]*$/.test(tag)).map((tag) => ({ tag, check: check.name, plugin }))
  )
