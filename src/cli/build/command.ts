/** `layerhost build`: its arguments. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import { directory, main } from "../arguments.ts"
import { lazily } from "../lazily.ts"

/** Makes one file of a service and everything that it needs. */
export const build = Command.make(
  "build",
  {
    directory,
    main,
    out: Flag.String("out").pipe(
      Flag.withDescription("The file to write, in the service's directory"),
      Flag.withDefault("dist/main.mjs")
    ),
    external: Flag.String("external").pipe(
      Flag.withDescription(
        "A package to leave out, which then has to be installed where the service runs; may be repeated"
      ),
      Flag.atLeast(0)
    ),
    minify: Flag.Boolean("minify").pipe(
      Flag.withDescription("Make the file small; --no-minify leaves it legible"),
      Flag.withDefault(true)
    ),
    sourcemap: Flag.Boolean("sourcemap").pipe(
      Flag.withDescription("Write a source map beside it, for node --enable-source-maps"),
      Flag.withDefault(false)
    )
  },
  lazily(() => import("./run.ts"))
).pipe(
  Command.withDescription("Make one file of a service, its plugins and all packages, which runs with node alone"),
  Command.withExamples([
    {
      command: "layerhost build && node dist/main.mjs",
      description: "Build the service in this directory, and run it"
    },
    { command: "layerhost build --external better-sqlite3", description: "Leave out a package with native code" }
  ])
)
