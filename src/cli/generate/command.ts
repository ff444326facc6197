/** `layerhost generate`: its arguments, and what it says when it is done. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { shown } from "./GenerateError.ts"

/** Writes the list of a service's plugins, or checks that the written one is fresh. */
export const generate = Command.make(
  "generate",
  {
    directory: Argument.String("directory").pipe(
      Argument.withDescription("The service's directory, where its package.json is"),
      Argument.withDefault(".")
    ),
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Write nothing; fail when the list is not what would be written"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ directory, check }) {
    // The parser is a native module: only this command pays for loading it.
    const PluginList = yield* Effect.promise(() => import("./PluginList.ts"))
    const list = yield* PluginList.make(directory)
    const summary = `${shown(list.file)}: ${list.plugins.length} ${list.plugins.length === 1 ? "plugin" : "plugins"}`
    if (check) {
      yield* PluginList.check(list)
      yield* Console.log(`${summary}, fresh`)
    } else {
      const changed = yield* PluginList.write(list)
      yield* Console.log(`${summary}, ${changed ? "written" : "unchanged"}`)
    }
  })
).pipe(
  Command.withDescription(
    "Write src/plugins.generated.ts: the plugins of the installed packages that declare some, then the service's own"
  ),
  Command.withExamples([
    { command: "layerhost generate", description: "Write the list of the service in this directory" },
    { command: "layerhost generate services/orders --check", description: "Fail when that list is missing or stale" }
  ])
)
