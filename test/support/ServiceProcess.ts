/** An example service as a process of its own, on a free port and with a directory of its own for secrets. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"

/** A service that listens. */
export interface ServiceProcess {
  readonly url: string
  /** Where the service keeps its secrets. */
  readonly secretsDirectory: string
  readonly pid: number
  /** Every line of the log so far. */
  readonly lines: ReadonlyArray<string>
  /** Ends the service by a signal, SIGTERM unless told otherwise, and gives the status of its process. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>
}

const root = resolve(import.meta.dirname, "../..")

/** Starts the service in a directory of the repository and waits until it says that it listens. */
export const startService = (
  directory: string,
  environment: Readonly<Record<string, string>> = {}
): Promise<ServiceProcess> => {
  const secretsDirectory = mkdtempSync(join(tmpdir(), "layerhost-service-"))
  const child = spawn(process.execPath, ["src/main.ts"], {
    cwd: join(root, directory),
    env: {
      ...process.env,
      HOST_URLS: "http://127.0.0.1:0",
      LOGGING_FORMAT: "json",
      SECRETSTORE_LOCALFILESYSTEMPATH: secretsDirectory,
      ...environment
    },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const ended = new Promise<number | null>((resolveEnded) => {
    child.once("exit", (status) => {
      rmSync(secretsDirectory, { recursive: true, force: true })
      resolveEnded(status)
    })
  })
  const lines: Array<string> = []
  return new Promise((resolveStarted, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(line)
      const url = /"message":"Listening on (http:[^",]+)/.exec(line)?.[1]
      if (url === undefined) return
      resolveStarted({
        url,
        secretsDirectory,
        pid: child.pid!,
        lines,
        stop: (signal = "SIGTERM") => {
          child.kill(signal)
          return ended
        }
      })
    })
    void ended.then((status) => reject(new Error(`The service ended with status ${status}:\n${lines.join("\n")}`)))
  })
}
