/**
 * Runs one `layerhost` command after another in a process of its own, since a process takes long to start. Each line of
 * standard input asks for one, and gets a line back.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Command from "effect/cli/Command"
import { createInterface } from "node:readline"
import { secrets } from "../../../src/cli/secrets/command.ts"
import { bareEnvironment } from "../../support/bareEnvironment.ts"

export interface Asked {
  readonly cwd: string
  readonly args: ReadonlyArray<string>
  readonly input: string
  readonly environment: Readonly<Record<string, string>>
}

export interface Answered {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

const layerhost = Command.runWith(Command.make("layerhost").pipe(Command.withSubcommands([secrets])), { version: "0" })

const answer = async ({ args, cwd, environment, input }: Asked): Promise<Answered> => {
  process.chdir(cwd)
  process.env = { ...bareEnvironment, NO_COLOR: "1", ...environment }
  const told = { stdout: "", stderr: "" }
  const sink = (stream: keyof typeof told) => () =>
    Sink.forEach((text: string | Uint8Array) => Effect.sync(() => void (told[stream] += String(text))))
  const line =
    (stream: keyof typeof told) =>
    (...texts: ReadonlyArray<unknown>) =>
      void (told[stream] += `${texts.join(" ")}\n`)
  const exit = await Effect.runPromiseExit(
    layerhost(["secrets", ...args]).pipe(
      Effect.provideService(Console.Console, { ...console, log: line("stdout"), error: line("stderr") }),
      Effect.provide(
        Layer.merge(
          NodeServices.layer,
          Stdio.layerTest({
            args: Effect.succeed(["secrets", ...args]),
            stdin: Stream.make(new TextEncoder().encode(input)),
            stdinIsTerminal: Effect.succeed(false),
            stdoutIsTerminal: Effect.succeed(false),
            stderrIsTerminal: Effect.succeed(false),
            stdout: sink("stdout"),
            stderr: sink("stderr")
          })
        )
      )
    )
  )
  return { status: Exit.isSuccess(exit) ? 0 : Runtime.getErrorExitCode(Cause.squash(exit.cause)), ...told }
}

for await (const asked of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(asked) as Asked))}\n`)
}
