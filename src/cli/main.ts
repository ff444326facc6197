#!/usr/bin/env node
/** The `layerhost` command. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import packageJson from "../../package.json" with { type: "json" }
import { config } from "./config/command.ts"
import { dev } from "./dev/command.ts"
import { generate } from "./generate/command.ts"
import { init } from "./init/command.ts"
import { plugins } from "./plugins/command.ts"
import { secrets } from "./secrets/command.ts"

Command.make("layerhost").pipe(
  Command.withDescription("Tools for services that run on layerhost"),
  Command.withSubcommands([config, dev, generate, init, plugins, secrets]),
  Command.run({ version: packageJson.version }),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
