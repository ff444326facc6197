/** Runs `layerhost` as a shell would, but in this process, since a process takes long to start. */
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
import { layerhost } from "../../src/cli/layerhost.ts"
import { bareEnvironment } from "../support/bareEnvironment.ts"

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

const command = Command.runWith(layerhost, { version: "0" })

/** Runs one command. It may change the working directory and the environment, which are put back after it. */
export const run = async ({ args, cwd, environment, input }: Asked): Promise<Answered> => {
  const before = { cwd: process.cwd(), environment: process.env }
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
    command(args).pipe(
      Effect.provideService(Console.Console, { ...console, log: line("stdout"), error: line("stderr") }),
      Effect.provide(
        Layer.merge(
          NodeServices.layer,
          Stdio.layerTest({
            args: Effect.succeed(args),
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
  process.chdir(before.cwd)
  process.env = before.environment
  return { status: Exit.isSuccess(exit) ? 0 : Runtime.getErrorExitCode(Cause.squash(exit.cause)), ...told }
}
