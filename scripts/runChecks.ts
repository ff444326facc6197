/** Runs commands side by side and tells how each of them went. */
import { execFile, type ExecFileOptions } from "node:child_process"

/** A command that passes by ending with status 0. */
export interface Check {
  readonly name: string
  readonly command: string
  readonly args: ReadonlyArray<string>
}

/** Runs all checks; true when all passed. Writes a line for each as it ends, with the output of one that failed. */
export const runChecks = async (
  checks: ReadonlyArray<Check>,
  options: Pick<ExecFileOptions, "cwd" | "env">,
  write: (text: string) => void
): Promise<boolean> => {
  const run = ({ name, command, args }: Check): Promise<boolean> =>
    new Promise((resolve) => {
      execFile(command, args, { ...options, maxBuffer: Infinity }, (error, stdout, stderr) => {
        if (error === null) write(`✓ ${name}\n`)
        else write(`✗ ${name}\n${indent(`${stdout}${stderr}`.trimEnd() || error.message)}\n`)
        resolve(error === null)
      })
    })
  const passed = await Promise.all(checks.map(run))
  return passed.every(Boolean)
}

const indent = (text: string): string => text.replace(/^(?=.)/gm, "  ")
