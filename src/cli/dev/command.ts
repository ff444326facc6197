/** `layerhost dev`: its arguments. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { main, operands } from "../arguments.ts"
import { lazily } from "../lazily.ts"

/** Runs a service, and starts it anew whenever something of it changes. */
export const dev = Command.make(
  "dev",
  {
    operands,
    main,
    types: Flag.Boolean("types").pipe(
      Flag.withDescription("Check the types in the background after each change; --no-types does not"),
      Flag.withDefault(true)
    )
  },
  lazily(() => import("./run.ts"))
).pipe(
  Command.withDescription("Run a service; after each change generate, check the types and restart"),
  Command.withExamples([
    { command: "layerhost dev", description: "Run the service in this directory" },
    { command: "layerhost dev services/orders --no-types -- --host:urls=http://+:81", description: "With an argument" }
  ])
)
