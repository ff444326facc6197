/** `layerhost generate`: its arguments, and what it says when it is done. */
import * as Effect from "effect/Effect"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { directory } from "../arguments.ts"

/** Writes the list of a service's plugins, or checks that the written one is fresh. */
export const generate = Command.make(
  "generate",
  {
    directory,
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Write nothing; fail when the list is not what would be written"),
      Flag.withDefault(false)
    ),
    watch: Flag.Boolean("watch").pipe(
      Flag.withDescription("Go on, and write the list again whenever the sources or packages change"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ directory, check, watch }) {
    // The parser is a native module: only this command pays for loading it.
    const run = yield* Effect.promise(() => import("./run.ts"))
    if (check && watch) {
      return yield* new CliError.UserError({ cause: "refused", userMessage: "--check and --watch exclude each other" })
    }
    return yield* watch ? run.watch(directory) : check ? run.check(directory) : run.write(directory)
  })
).pipe(
  Command.withDescription(
    "Write src/plugins.generated.ts: the plugins of the installed packages that declare some, then the service's own, with " +
      "the health checks, middleware and sections that no plugin lists"
  ),
  Command.withExamples([
    { command: "layerhost generate", description: "Write the list of the service in this directory" },
    { command: "layerhost generate services/orders --check", description: "Fail when that list is missing or stale" },
    { command: "layerhost generate --watch", description: "Keep the list fresh while you work" }
  ])
)
