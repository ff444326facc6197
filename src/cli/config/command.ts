/** `layerhost config`: its subcommands and their arguments. */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import { json, operands, plugins } from "../arguments.ts"

/** Only a command that runs pays for loading the host's modules. */
const load = Effect.promise(() => import("./run.ts"))

const list = Command.make("list", { operands, plugins, json }, (options) =>
  Effect.flatMap(load, (run) => run.list(options))
).pipe(
  Command.withDescription("Print every key with its value and the source that sets it; secrets are masked"),
  Command.withExamples([
    { command: "layerhost config list", description: "What the service in this directory runs with" },
    { command: "layerhost config list services/orders -- --host:urls=http://+:80", description: "With an argument" }
  ])
)

const explain = Command.make(
  "explain",
  {
    key: Argument.String("key").pipe(Argument.withDescription("A key such as host:urls, in any case")),
    operands,
    plugins,
    json
  },
  ({ key, ...options }) => Effect.flatMap(load, (run) => run.explain(key, options))
).pipe(
  Command.withDescription("Print what a key is, every source that sets it, in order, and which of them wins"),
  Command.withExamples([{ command: "layerhost config explain host:urls", description: "Why this address" }])
)

const schema = Command.make("schema", { operands, plugins }, (options) =>
  Effect.flatMap(load, (run) => run.schema(options))
).pipe(
  Command.withDescription("Print the JSON Schema of all sections, by which editors complete appsettings.yaml"),
  Command.withExamples([
    { command: "layerhost config schema > appsettings.schema.json", description: "Write it where an editor finds it" }
  ])
)

const check = Command.make("check", { operands, plugins, json }, (options) =>
  Effect.flatMap(load, (run) => run.check(options))
).pipe(
  Command.withDescription("Tell everything that is wrong with the configuration; status 1 where anything is"),
  Command.withExamples([{ command: "layerhost config check", description: "Before a deployment, or in CI" }])
)

/** Shows and checks the configuration of a service without starting it. */
export const config = Command.make("config").pipe(
  Command.withDescription("Show and check the configuration of a service without starting it"),
  Command.withSubcommands([list, explain, schema, check])
)
