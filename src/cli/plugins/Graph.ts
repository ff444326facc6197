/** What plugins need of each other, as a graph, and its Mermaid text. */
import type { PluginSummary } from "./PluginSummary.ts"

/** A plugin that uses services of an earlier one. Both are indexes of the plugins. */
export interface Use {
  readonly from: number
  readonly to: number
  /** The last parts of the services' keys. */
  readonly services: ReadonlyArray<string>
}

/** Who uses whom: each service that a plugin requires comes from the last earlier plugin that provides it. */
export const uses = (plugins: ReadonlyArray<PluginSummary>): ReadonlyArray<Use> =>
  plugins.flatMap(({ requires }, from) => {
    const byProvider = Map.groupBy(requires ?? [], (key) =>
      plugins.findLastIndex(({ provides }, index) => index < from && provides?.includes(key) === true)
    )
    return [...byProvider]
      .filter(([to]) => to >= 0)
      .map(([to, keys]) => ({ from, to, services: keys.map((key) => key.slice(key.lastIndexOf("/") + 1)) }))
  })

/** Where a plugin comes from, in few words: `layerhost 0.1.0`, or `this service 1.2.0`. */
export const sourceOf = (plugin: PluginSummary): string =>
  [plugin.package ?? "this service", plugin.version ?? ""].join(" ").trim()

/** Colours of the origins, which hold on a light and on a dark page. */
export const colors = { framework: "#7c5cbf", "third-party": "#b06f1c", app: "#2f7d5b" } as const

/** The graph as Mermaid draws it; an arrow leads to what is used. */
export const mermaid = (plugins: ReadonlyArray<PluginSummary>): string =>
  [
    "flowchart RL",
    ...plugins.map(
      (plugin, index) => `  p${index}["${plugin.id}<br/><small>${sourceOf(plugin)}</small>"]:::${plugin.origin}`
    ),
    ...uses(plugins).map(({ from, services, to }) => `  p${from} -- "${services.join("<br/>")}" --> p${to}`),
    ...Object.entries(colors).map(([origin, color]) => `  classDef ${origin} stroke:${color},stroke-width:2px`)
  ].join("\n")
