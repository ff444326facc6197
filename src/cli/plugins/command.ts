/** `layerhost plugins`: its arguments. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { directory, json, optional, plugins as modules } from "../arguments.ts"
import { lazily } from "../lazily.ts"

/** Lists what a service runs, without starting it. */
export const plugins = Command.make(
  "plugins",
  {
    directory,
    plugins: modules,
    json,
    graph: Flag.Literals("graph", ["mermaid", "svg"]).pipe(
      Flag.withDescription("Draw what the plugins use of each other"),
      optional
    )
  },
  lazily(() => import("./run.ts"))
).pipe(
  Command.withDescription("List the plugins that a service runs: origin, services, endpoints, checks, sections"),
  Command.withExamples([
    { command: "layerhost plugins", description: "What the service in this directory runs" },
    { command: "layerhost plugins --graph svg > plugins.svg", description: "A picture of it" }
  ])
)
