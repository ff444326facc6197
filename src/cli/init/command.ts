/** `layerhost init`: its arguments. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { lazily } from "../lazily.ts"

/** Makes a new service, or a package with a plugin. */
export const init = Command.make(
  "init",
  {
    directory: Argument.String("directory").pipe(
      Argument.withDescription("Where to make it: a directory that is new or empty; its name becomes the package's"),
      Argument.withDefault(".")
    ),
    plugin: Flag.Boolean("plugin").pipe(
      Flag.withDescription("Make a package with a plugin, for services to install, instead of a service"),
      Flag.withDefault(false)
    )
  },
  lazily(() => import("./run.ts"))
).pipe(
  Command.withDescription("Make a new service that runs, with its configuration, a plugin, a test and a Dockerfile"),
  Command.withExamples([
    { command: "layerhost init orders", description: "A service in the new directory orders" },
    { command: "layerhost init orders-plugin --plugin", description: "A package with a plugin" }
  ])
)
