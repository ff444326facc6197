/** Every command with its arguments and flags, as its own help tells them. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import type { HelpDoc } from "effect/cli/HelpDoc"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { layerhost } from "../../src/cli/layerhost.ts"
import { code, table } from "./markdown.ts"

const help = Effect.fnUntraced(function* (path: ReadonlyArray<string>) {
  let found: HelpDoc | undefined
  yield* Command.runWith(layerhost, { version: "" })([...path, "--help"]).pipe(
    Effect.provideService(CliOutput.Presenter, {
      present: (event) =>
        Effect.sync(() => {
          if (event._tag === "Help") found = event.helpDoc
        })
    }),
    Effect.provide(NodeServices.layer)
  )
  if (found === undefined) throw new Error(`No help for ${path.join(" ")}`)
  return found
})

/** The commands that do something: those without commands below them. */
const pathsOf = (command: Command.Command.Any, path: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const below = command.subcommands.flatMap(({ commands }) => commands)
  return below.length === 0 ? [path] : below.flatMap((each) => pathsOf(each, [...path, each.name]))
}

const render = (path: ReadonlyArray<string>, doc: HelpDoc): string => {
  const description = (text: Option.Option<string>) => Option.getOrElse(text, () => "")
  const rows = [
    ...(doc.args ?? []).map((arg) => [
      code(arg.required ? `<${arg.name}>` : `[${arg.name}]`),
      description(arg.description)
    ]),
    ...doc.flags.map(({ aliases, name, type, description: text }) => [
      [`--${name}`, ...aliases].map(code).join(", ") + (type === "boolean" ? "" : ` ${type}`),
      description(text)
    ])
  ]
  const examples = (doc.examples ?? []).map(({ command, description }) => `${command}   # ${description ?? ""}`)
  return [
    `### layerhost ${path.join(" ")}`,
    `${doc.description}.`,
    ...(rows.length === 0 ? [] : [table(["argument", "meaning"], rows)]),
    ...(examples.length === 0 ? [] : [`\`\`\`text\n${examples.join("\n")}\n\`\`\``])
  ].join("\n\n")
}

/** A chapter for each command. */
export const commands = (): Promise<string> =>
  Effect.runPromise(
    Effect.map(
      Effect.forEach(pathsOf(layerhost, []), (path) => Effect.map(help(path), (doc) => render(path, doc))),
      (chapters) => chapters.join("\n\n")
    )
  )
