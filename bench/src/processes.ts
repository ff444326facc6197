/** The processes of a measurement: servers, each on a port of its own, and the one that makes the load. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import type { Done, Work } from "./load.ts"
import { bytesOf, type Workload, workloads } from "./workloads.ts"

/** Servers and load have a processor each where there are two. */
const taskset = ["/usr/bin/taskset", "/bin/taskset"].find((path) => existsSync(path))
export const isPinned = taskset !== undefined && availableParallelism() > 1

const spawnNode = (
  args: ReadonlyArray<string>,
  processor: number,
  options: { directory?: string; env?: NodeJS.ProcessEnv; ipc: boolean }
) => {
  const command = [process.execPath, ...args]
  const pinned = isPinned ? [taskset!, "-c", String(processor), ...command] : command
  const child = spawn(pinned[0]!, pinned.slice(1), {
    cwd: options.directory ?? join(import.meta.dirname, "peers/layerhost"),
    env: { ...process.env, ...options.env },
    // Logs go to standard output, and nowhere.
    stdio: ["ignore", "ignore", "inherit", ...(options.ipc ? (["ipc"] as const) : [])]
  })
  children.add(child)
  child.once("exit", () => children.delete(child))
  return child
}

/** Whatever happens to this process, the others end. */
const children = new Set<ChildProcess>()
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")))
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1))

const ask = <A>(child: ChildProcess, question: object): Promise<A> =>
  new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a process ended with ${code}`))
    child.once("exit", onExit)
    child.once("message", (answer) => {
      child.off("exit", onExit)
      resolve(answer as A)
    })
    child.send(question)
  })

const ended = async (child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = new Promise((resolve) => child.once("exit", resolve))
  child.kill(signal)
  await exit
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

/** What a server's process has used. */
export interface Usage {
  /** Microseconds of processor time, of all threads. */
  readonly cpu: number
  /** The most memory that was ever resident, in bytes. */
  readonly peakMemory: number
}

export interface StartOptions {
  /** Where it runs; by default where layerhost finds its configuration. The other peers look for nothing. */
  readonly directory?: string
  readonly env?: NodeJS.ProcessEnv
  /** Of Node, before the file. */
  readonly flags?: ReadonlyArray<string>
  /** Whether it tells what it uses, for which it loads a module more; yes by default. */
  readonly agent?: boolean
  /** What is asked until there is an answer 200. */
  readonly path?: string
}

/** What a server took until its first answer. */
export interface Started {
  readonly millis: number
  /** Milliseconds of processor time, of all threads; 0 where the system does not tell (other than Linux). */
  readonly cpu: number
}

/** Linux counts in hundredths of a second. */
const cpuOf = ({ pid }: ChildProcess): number => {
  if (process.platform !== "linux") return 0
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")
  const [user, system] = fields.split(" ").slice(11, 13)
  return (Number(user) + Number(system)) * 10
}

export class Server implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly file: string
  readonly port: number
  readonly started: Started

  private constructor(child: ChildProcess, file: string, port: number, started: Started) {
    this.#child = child
    this.file = file
    this.port = port
    this.started = started
  }

  static async start(file: string, options: StartOptions = {}): Promise<Server> {
    const { env, agent = true, flags = [], path = workloads[0]!.path, ...rest } = options
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const preload = agent ? ["--import", join(import.meta.dirname, "agent.js")] : []
    const begun = performance.now()
    const child = spawnNode([...preload, ...flags, file], 1, {
      ...rest,
      env: { ...env, PORT: String(port), HOST_URLS: url },
      ipc: agent
    })
    while (child.exitCode === null && performance.now() - begun < 120_000) {
      const isUp = await fetch(url + path).then(
        async (answer) => (await answer.arrayBuffer(), answer.ok),
        () => false
      )
      if (isUp) return new Server(child, file, port, { millis: performance.now() - begun, cpu: cpuOf(child) })
      await setTimeout(2)
    }
    await ended(child)
    throw new Error(`${file} does not answer`)
  }

  usage(): Promise<Usage> {
    return ask(this.#child, {})
  }

  /** Ends it as a platform would, so that it writes what it keeps for its next start. */
  stop(): Promise<void> {
    return ended(this.#child, "SIGTERM")
  }

  [Symbol.asyncDispose](): Promise<void> {
    return ended(this.#child)
  }
}

export class Load implements Disposable {
  readonly #child = spawnNode([join(import.meta.dirname, "load.ts")], 0, { ipc: true })

  /** Sends a workload's request to a server, over 32 connections. */
  async run(server: Server, workload: Workload, load: Work["load"]): Promise<Done> {
    const request = bytesOf(workload).toString("base64")
    const work: Work = { port: server.port, connections: 32, request, status: workload.status, load }
    const { done, error } = await ask<{ done: Done; error?: string }>(this.#child, work)
    if (error !== undefined) throw new Error(`${server.file}, ${workload.name}: ${error}`)
    return done
  }

  [Symbol.dispose](): void {
    this.#child.kill()
  }
}
