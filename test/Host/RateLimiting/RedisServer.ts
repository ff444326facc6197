/** Debian's `redis-server`, as a process of the tests. */
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClient } from "redis"

/** Whether there is one. Says so where there is none. */
export const isInstalled = spawnSync("redis-server", ["--version"]).status === 0
if (!isInstalled)
  process.stderr.write("SKIPPED: tests that need Redis. Install redis-server (apt-get install redis-server).\n")

/** A Redis that can be ended and started again, on a port of its own. */
export class RedisServer {
  readonly #directory = mkdtempSync(join(tmpdir(), "layerhost-redis-"))
  readonly #port: number
  readonly url: string
  #child: ChildProcess | undefined

  constructor(port: number) {
    this.#port = port
    this.url = `redis://127.0.0.1:${port}`
  }

  /** Starts it, and waits until it answers. */
  async start(): Promise<void> {
    const options = { port: this.#port, bind: "127.0.0.1", save: "", appendonly: "no", dir: this.#directory }
    const child = spawn(
      "redis-server",
      Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]),
      { stdio: ["ignore", "pipe", "inherit"] }
    )
    this.#child = child
    await new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (text) => String(text).includes("Ready to accept connections") && resolve())
      child.once("exit", (status) => reject(new Error(`redis-server ended with status ${status}`)))
    })
  }

  /** Sends a signal to its process: SIGSTOP freezes it, SIGCONT lets it go on. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** Sends it a command. */
  async send(...command: ReadonlyArray<string>): Promise<unknown> {
    const client = await createClient({ url: this.url, RESP: 2 }).connect()
    const reply = await client.sendCommand(command)
    await client.close()
    return reply
  }

  /** Ends it at once, and waits for its end. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
  }

  async release(): Promise<void> {
    await this.kill()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

/** One that does not run yet. */
export const make = async (): Promise<RedisServer> => new RedisServer(await freePort())

/** One that does not run yet, and is gone when the scope ends. */
export const makeScoped = Effect.acquireRelease(Effect.promise(make), (server) =>
  Effect.promise(() => server.release())
)
