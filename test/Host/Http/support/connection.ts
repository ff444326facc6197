/** A connection that sends bytes as they are given, for what no HTTP client would send. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as net from "node:net"

/** A TCP connection to a server. */
export interface Connection {
  readonly socket: net.Socket
  /** Sends a text; each character is one byte. */
  readonly send: (text: string) => Effect.Effect<void>
  /** Waits until what was received contains a text, and gives everything received so far. */
  readonly receive: (text: string) => Effect.Effect<string>
  /** Waits until the connection is closed, and gives everything that was received. */
  readonly closed: Effect.Effect<string>
}

/** Opens a connection, which is closed with the scope. */
export const open = (
  url: string,
  options: { readonly paused?: boolean } = {}
): Effect.Effect<Connection, Error, Scope.Scope> =>
  Effect.gen(function* () {
    const { hostname, port } = new URL(url)
    const opened = yield* Deferred.make<void, Error>()
    const closed = yield* Deferred.make<string>()
    let received = ""
    let waiting: ReadonlyArray<() => void> = []
    const socket = yield* Effect.acquireRelease(
      Effect.sync(() => net.connect(Number(port), hostname.replace(/^\[|\]$/g, ""))),
      (socket) => Effect.sync(() => socket.destroy())
    )
    socket.on("connect", () => Deferred.doneUnsafe(opened, Effect.void))
    socket.on("error", (error) => Deferred.doneUnsafe(opened, Effect.fail(error)))
    socket.on("close", () => Deferred.doneUnsafe(closed, Effect.succeed(received)))
    if (options.paused === true) socket.pause()
    socket.on("data", (data) => {
      received += data.toString("latin1")
      for (const check of waiting) check()
    })
    if (options.paused === true) socket.pause()
    yield* Deferred.await(opened)
    return {
      socket,
      send: (text) => Effect.sync(() => void socket.write(text, "latin1")),
      receive: (text) =>
        Effect.raceFirst(
          Effect.callback<string>((resume) => {
            const check = () => {
              if (received.includes(text)) resume(Effect.succeed(received))
            }
            waiting = [...waiting, check]
            check()
          }),
          Effect.flatMap(Deferred.await(closed), (all) =>
            all.includes(text)
              ? Effect.succeed(all)
              : Effect.die(new Error(`The connection closed before ${JSON.stringify(text)} came, after: ${all}`))
          )
        ),
      closed: Deferred.await(closed)
    }
  })
