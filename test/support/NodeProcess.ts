/** A program of the repository as a process of its own, watched line by line. */
import { spawn } from "node:child_process"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import { bareEnvironment } from "./bareEnvironment.ts"

/** How a process ended, and all that it wrote. */
export interface Ended {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: ReadonlyArray<string>
  readonly stderr: string
}

/** A process that runs. */
export interface NodeProcess {
  /** Waits for the first line of standard output that matches; fails when the process ends without one. */
  readonly waitFor: (pattern: RegExp) => Promise<RegExpExecArray>
  /** Writes a line to standard input. */
  readonly say: (line: string) => void
  readonly signal: (signal: NodeJS.Signals) => void
  readonly ended: Promise<Ended>
}

const root = resolve(import.meta.dirname, "../..")

/** Starts a program, whose path is that in the repository, with no environment but the given. */
export const start = (
  program: string,
  options: {
    readonly args?: ReadonlyArray<string>
    readonly environment?: Readonly<Record<string, string>>
    /** The working directory in the repository; its root when absent. */
    readonly directory?: string
  } = {}
): NodeProcess => {
  const child = spawn(process.execPath, [resolve(root, program), ...(options.args ?? [])], {
    cwd: resolve(root, options.directory ?? "."),
    env: { ...bareEnvironment, ...options.environment },
    stdio: "pipe"
  })
  const stdout: Array<string> = []
  const watchers = new Set<() => void>()
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
  })
  createInterface({ input: child.stdout }).on("line", (line) => {
    stdout.push(line)
    for (const look of watchers) look()
  })
  const ended = new Promise<Ended>((resolveEnded) => {
    child.once("close", (status, signal) => resolveEnded({ status, signal, stdout, stderr }))
  })
  return {
    waitFor: (pattern) =>
      new Promise((resolveMatch, reject) => {
        const look = () => {
          for (const line of stdout) {
            const match = pattern.exec(line)
            if (match === null) continue
            watchers.delete(look)
            return resolveMatch(match)
          }
        }
        watchers.add(look)
        look()
        void ended.then(({ status }) => reject(new Error(`No ${pattern} before the end (${status}):\n${stderr}`)))
      }),
    say: (line) => child.stdin.write(`${line}\n`),
    signal: (signal) => child.kill(signal),
    ended
  }
}
