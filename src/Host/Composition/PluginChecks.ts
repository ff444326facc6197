/** What can be wrong with a list of plugins before anything of it is built. */
import type * as Plugin from "../../Plugins/Plugin.ts"
import type { StartProblem } from "../HostStartError.ts"

/** Ids that stand twice, and configuration sections that two plugins claim. */
export const checkPlugins = (plugins: ReadonlyArray<Plugin.Any>): ReadonlyArray<StartProblem> => [
  ...duplicateIds(plugins),
  ...sectionClashes(plugins)
]

const duplicateIds = (plugins: ReadonlyArray<Plugin.Any>): ReadonlyArray<StartProblem> =>
  [...Map.groupBy(plugins, (plugin) => plugin.id)].flatMap(([id, same]) =>
    same.length === 1
      ? []
      : [
          {
            plugin: id,
            phase: "plugins" as const,
            message: `the id stands ${same.length} times (${same.map(sourceOf).join(", ")})`
          }
        ]
  )

const sourceOf = (plugin: Plugin.Any): string => plugin.package?.name ?? "this service"

/** One section class may be shared; two classes with one path would decode the same keys in two ways. */
const sectionClashes = (plugins: ReadonlyArray<Plugin.Any>): ReadonlyArray<StartProblem> => {
  const owners = new Map<string, { readonly plugin: string; readonly section: unknown }>()
  const problems: Array<StartProblem> = []
  for (const plugin of plugins) {
    for (const section of plugin.config) {
      const path = section.path.toLowerCase()
      const owner = owners.get(path)
      if (owner === undefined) owners.set(path, { plugin: plugin.id, section })
      else if (owner.section !== section) {
        problems.push({
          plugin: plugin.id,
          phase: "plugins",
          message: `the configuration section "${section.path}" is already that of plugin "${owner.plugin}"`
        })
      }
    }
  }
  return problems
}
