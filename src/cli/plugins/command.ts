/** `layerhost plugins`: its arguments. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"

/** Lists what a service runs, without starting it. */
export const plugins = Command.make(
  "plugins",
  {
    directory: Argument.String("directory").pipe(
      Argument.withDescription("The service's directory, where its package.json is"),
      Argument.withDefault(".")
    ),
    plugins: Flag.String("plugins").pipe(
      Flag.withDescription("The module that exports the service's plugins, where it is not the generated list"),
      Flag.optional,
      Flag.map(Option.getOrUndefined)
    ),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Answer in JSON"), Flag.withDefault(false)),
    graph: Flag.Literals("graph", ["mermaid", "svg"]).pipe(
      Flag.withDescription("Draw what the plugins use of each other"),
      Flag.optional,
      Flag.map(Option.getOrUndefined)
    )
  },
  (options) =>
    // Only a command that runs pays for loading the host's modules.
    Effect.flatMap(
      Effect.promise(() => import("./run.ts")),
      ({ run }) => run(options)
    )
).pipe(
  Command.withDescription("List the plugins that a service runs: origin, services, endpoints, checks, sections"),
  Command.withExamples([
    { command: "layerhost plugins", description: "What the service in this directory runs" },
    { command: "layerhost plugins --graph svg > plugins.svg", description: "A picture of it" }
  ])
)
