/** What can be wrong with a list of plugins before anything of it is built. */
import type * as Plugin from "../../Plugins/Plugin.ts"
import type { OwnedSection } from "../Configuration/Decode.ts"
import type { StartProblem } from "../HostStartError.ts"

/** The ids that stand more than once. */
export const duplicateIds = (plugins: ReadonlyArray<Plugin.Any>): ReadonlyArray<StartProblem> =>
  [...Map.groupBy(plugins, (plugin) => plugin.id)]
    .filter(([, same]) => same.length > 1)
    .map(([id, same]) => ({
      plugin: id,
      phase: "plugins",
      message: `the id stands ${same.length} times (${same.map(sourceOf).join(", ")}); list the plugin once, or give each its own id`
    }))

const sourceOf = (plugin: Plugin.Any): string => plugin.package?.name ?? "this service"

/** A configuration section at a path that is another's. */
export interface SectionClash {
  readonly plugin: Plugin.Any
  readonly message: string
}

/**
 * The sections of plugins at paths that the host or an earlier plugin has taken. Plugins may share one section class; two
 * classes with one path would read the same keys in two ways.
 */
export const sectionClashes = (
  plugins: ReadonlyArray<Plugin.Any>,
  hostSections: ReadonlyArray<OwnedSection>
): ReadonlyArray<SectionClash> => {
  const taken = new Map(hostSections.map((owned) => [owned.section.path.toLowerCase(), owned]))
  return plugins.flatMap((plugin) =>
    plugin.config.flatMap((section) => {
      const { owner, section: first } = taken.getOrInsert(section.path.toLowerCase(), { section, owner: plugin.id })
      return first === section
        ? []
        : [
            {
              plugin,
              message: `the configuration section "${section.path}" is already that of plugin "${owner}"; choose another path`
            }
          ]
    })
  )
}
