/**
 * The graph of plugins as SVG: a column for each step of what builds on what, from left to right.
 */
import * as Graph from "./Graph.ts"
import type { PluginSummary } from "./PluginSummary.ts"

const box = { height: 46, gap: 26, padding: 14 }
const column = { gap: 150 }
const margin = 16
/** What a character of the font takes at most. */
const character = 8

/** Draws the plugins with what they use of each other. */
export const draw = (plugins: ReadonlyArray<PluginSummary>): string => {
  const uses = Graph.uses(plugins)
  const width =
    Math.max(...plugins.map((plugin) => Math.max(plugin.id.length, Graph.sourceOf(plugin).length))) * character +
    2 * box.padding
  const columns = arrange(plugins.length, uses)
  const places = plugins.map((_, index) => {
    const x = columns.findIndex((nodes) => nodes.includes(index))
    const y = columns[x]!.indexOf(index)
    return { x: margin + x * (width + column.gap), y: margin + y * (box.height + box.gap) }
  })
  const right = Math.max(0, ...places.map(({ x }) => x + width)) + margin
  const bottom = Math.max(0, ...places.map(({ y }) => y + box.height)) + margin

  const lines = uses.map(({ from, services, to }) => {
    const start = { x: places[to]!.x + width, y: places[to]!.y + box.height / 2 }
    const end = { x: places[from]!.x, y: places[from]!.y + box.height / 2 }
    const middle = (start.x + end.x) / 2
    const label = services.map(
      (name, line) =>
        `<text class="use" x="${middle}" y="${(start.y + end.y) / 2 - 6 - 14 * (services.length - 1 - line)}">${escape(name)}</text>`
    )
    return `<path marker-start="url(#used)" d="M${start.x} ${start.y}C${middle} ${start.y} ${middle} ${end.y} ${end.x} ${end.y}"/>${label.join("")}`
  })
  const boxes = plugins.map((plugin, index) => {
    const { x, y } = places[index]!
    const center = x + width / 2
    return (
      `<rect x="${x}" y="${y}" width="${width}" height="${box.height}" rx="8" stroke="${Graph.colors[plugin.origin]}"/>` +
      `<text class="id" x="${center}" y="${y + 20}">${escape(plugin.id)}</text>` +
      `<text x="${center}" y="${y + 36}">${escape(Graph.sourceOf(plugin))}</text>`
    )
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${right} ${bottom}" width="${right}" height="${bottom}" role="img">`,
    `<title>${plugins.length} plugins, and what they use of each other</title>`,
    `<style>svg{color:#24292f;background:#fff}@media(prefers-color-scheme:dark){svg{color:#e6edf3;background:#0d1117}}` +
      `rect{fill:none;stroke-width:2}path{fill:none;stroke:#8b949e;stroke-width:1.5}` +
      `text{font:12px ui-monospace,monospace;fill:currentColor;text-anchor:middle}.id{font-weight:bold}.use{font-size:11px}</style>`,
    // An arrow leads to what is used, as in Mermaid.
    `<marker id="used" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse">` +
      `<polygon points="0,0 8,4 0,8" fill="#8b949e"/></marker>`,
    ...lines,
    ...boxes,
    "</svg>"
  ].join("\n")
}

/**
 * The plugins of each column: one stands to the right of all that it uses. Within a column, those whose used plugins stand
 * higher up come first, so that few lines cross.
 */
const arrange = (count: number, uses: ReadonlyArray<Graph.Use>): ReadonlyArray<ReadonlyArray<number>> => {
  const used = Array.from({ length: count }, (_, node) => uses.filter(({ from }) => from === node).map(({ to }) => to))
  const depths: Array<number> = []
  // A plugin uses only earlier ones, whose depths are known.
  for (const others of used) depths.push(Math.max(-1, ...others.map((other) => depths[other]!)) + 1)
  const columns: Array<Array<number>> = Array.from({ length: Math.max(0, ...depths) + 1 }, () => [])
  const rows: Array<number> = []
  for (const [depth, nodes] of columns.entries()) {
    const wanted = (node: number) => {
      const above = used[node]!.map((other) => rows[other]!)
      return above.length === 0 ? node : above.reduce((sum, row) => sum + row, 0) / above.length
    }
    nodes.push(
      ...depths.flatMap((each, node) => (each === depth ? [node] : [])).toSorted((a, b) => wanted(a) - wanted(b))
    )
    for (const [row, node] of nodes.entries()) rows[node] = row
  }
  return columns
}

const escape = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
