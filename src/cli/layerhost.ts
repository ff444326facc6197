/** The `layerhost` command with all that stands below it. */
import * as Command from "effect/cli/Command"
import { build } from "./build/command.ts"
import { config } from "./config/command.ts"
import { dev } from "./dev/command.ts"
import { generate } from "./generate/command.ts"
import { init } from "./init/command.ts"
import { plugins } from "./plugins/command.ts"
import { secrets } from "./secrets/command.ts"

export const layerhost = Command.make("layerhost").pipe(
  Command.withDescription("Tools for services that run on layerhost"),
  Command.withSubcommands([build, config, dev, generate, init, plugins, secrets])
)
