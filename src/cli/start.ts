/** Runs the `layerhost` command. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as Command from "effect/cli/Command"
import packageJson from "../../package.json" with { type: "json" }
import { layerhost } from "./layerhost.ts"

Command.run(layerhost, { version: packageJson.version }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
