/** Type checks in the background: one for each change, each of which ends the one before it. */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"

/** Checks a service; gives what the compiler says, which is nothing where all is well. Interruption ends the compiler. */
export const run = (directory: string, compiler: string): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const args = [compiler, "--noEmit", "--pretty", String(process.stderr.isTTY === true), "-p", directory]
    const output: Array<string> = []
    // The compiler has a process of its own below this one: they end as a group.
    const child = spawn(process.execPath, args, { cwd: directory, detached: true, stdio: ["ignore", "pipe", "pipe"] })
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => output.push(text))
    }
    const ended = new Promise<void>((resolve) => child.on("close", () => resolve()))
    void ended.then(() => resume(Effect.succeed(output.join("").trimEnd())))
    return Effect.promise(() => {
      if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      return ended
    })
  })
