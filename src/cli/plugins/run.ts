/** What `layerhost plugins` does. Loaded only when it is asked for. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as nodePath from "node:path"
import { sort } from "../../Plugins/PluginOrigin.ts"
import * as Service from "../config/Service.ts"
import * as PackageJson from "../generate/PackageJson.ts"
import * as Graph from "./Graph.ts"
import * as GraphSvg from "./GraphSvg.ts"
import * as PluginSummary from "./PluginSummary.ts"
import * as ServiceNames from "./ServiceNames.ts"

/** What to print. */
export interface Options {
  readonly directory: string
  readonly plugins: string | undefined
  readonly json: boolean
  readonly graph: "mermaid" | "svg" | undefined
}

/** Prints the plugins of a service. */
export const run = Effect.fnUntraced(function* ({ directory, graph, json, plugins }: Options) {
  const service = nodePath.resolve(directory)
  const list = yield* Service.plugins(service, plugins)
  const names = yield* ServiceNames.find(service, list.file)
  const serviceVersion = (yield* PackageJson.read(service))?.contents.version
  const summaries = yield* PluginSummary.make(sort(list.plugins), { serviceVersion, names })
  if (graph !== undefined) yield* Console.log((graph === "svg" ? GraphSvg.draw : Graph.mermaid)(summaries))
  else if (json) yield* Console.log(JSON.stringify(summaries, undefined, 2))
  else yield* Console.log(summaries.map(describe).join("\n\n"))
  if (names === undefined) {
    yield* Console.error(
      `What the plugins provide and require is not known: TypeScript is not installed in ${directory}, or could not read its plugins. Run \`npm install --save-dev typescript\` there.`
    )
  }
})

const describe = (plugin: PluginSummary.PluginSummary): string => {
  const fields: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["provides", plugin.provides ?? []],
    ["requires", plugin.requires ?? []],
    ["sections", plugin.sections],
    ["endpoints", [...plugin.endpoints, ...(plugin.moreRoutes ? ["(more, which its services add at start)"] : [])]],
    [
      "middleware",
      plugin.middleware.map(
        ({ name, order, routes }) => `${name} (order ${order}${routes === "own" ? ", own routes only" : ""})`
      )
    ],
    ["errors", plugin.errors],
    ["checks", plugin.healthChecks ?? ["(its services choose them at start)"]],
    ["tasks", plugin.tasks]
  ]
  return [
    `${plugin.order}. ${plugin.id}  (${plugin.origin}, ${Graph.sourceOf(plugin)})`,
    ...fields.flatMap(([name, values]) =>
      values.map((value, index) => `   ${(index === 0 ? name : "").padEnd(10)}  ${value}`)
    )
  ].join("\n")
}
