/** One process that runs the service, or is there to run it. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import { extname, join } from "node:path"
import type { FromInstance, ToInstance } from "./Message.ts"

/** How a process ended: its status, or the signal that ended it. */
export type End = number | NodeJS.Signals

/** A process of the service. */
export interface Instance {
  readonly pid: number | undefined
  /** Runs the service's program in it. */
  readonly run: (main: string) => Effect.Effect<void>
  /** Waits until everything is built and the service only waits for its turn to listen. */
  readonly isReady: Effect.Effect<void>
  /** Lets it listen, and waits until it does. */
  readonly listen: Effect.Effect<void>
  /** Ends it as a platform would, by SIGTERM. */
  readonly stop: Effect.Effect<void>
  readonly kill: Effect.Effect<void>
  /** Waits until nobody can connect to it any more. */
  readonly isClosed: Effect.Effect<void>
  readonly ended: Effect.Effect<End>
}

/** How processes are started. */
export interface InstanceOptions {
  readonly directory: string
  /** The arguments of the service. */
  readonly args: ReadonlyArray<string>
}

/** The program of the process, beside this file, as sources and as they are published. */
const standby = join(import.meta.dirname, `standby${extname(import.meta.filename)}`)

/** Starts a process that gets ready to run the service. */
export const make = (options: InstanceOptions): Instance => {
  const child = spawn(process.execPath, [standby, ...options.args], {
    cwd: options.directory,
    // A change is not to wait for delays that are meant for load balancers, nor to be missed over kept connections.
    env: { HOST_SHUTDOWNDELAY: "0 seconds", HOST_KEEPALIVEGRACE: "0 seconds", ...process.env },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    // Ctrl-C in a terminal goes to a whole group: who is told to stop, and when, is decided here.
    detached: true
  })
  const said = {
    waiting: Deferred.makeUnsafe<void>(),
    listening: Deferred.makeUnsafe<void>(),
    closed: Deferred.makeUnsafe<void>()
  }
  const ended = Deferred.makeUnsafe<End>()
  child.on("message", ({ type }: FromInstance) => Deferred.doneUnsafe(said[type], Effect.void))
  child.on("exit", (status, signal) => Deferred.doneUnsafe(ended, Effect.succeed(status ?? signal ?? 1)))
  child.on("error", () => Deferred.doneUnsafe(ended, Effect.succeed(1)))
  return {
    pid: child.pid,
    run: (main) => tell(child, { type: "run", main }),
    isReady: Deferred.await(said.waiting),
    listen: Effect.andThen(tell(child, { type: "listen" }), Deferred.await(said.listening)),
    stop: Effect.sync(() => child.kill("SIGTERM")),
    kill: Effect.sync(() => child.kill("SIGKILL")),
    isClosed: Deferred.await(said.closed),
    ended: Deferred.await(ended)
  }
}

/** A process that is ending takes no message, which its end tells soon enough. */
const tell = (child: ChildProcess, message: ToInstance): Effect.Effect<void> =>
  Effect.sync(() => {
    if (child.connected) child.send(message, () => {})
  })
