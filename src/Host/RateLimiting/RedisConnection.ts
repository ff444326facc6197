/**
 * A connection to Redis that runs one script, and comes back by itself when it is lost.
 */
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type * as Redis from "redis"

/** A connection that may be up or down. */
export interface RedisConnection {
  /** The connection as it is now; nothing while Redis is away. */
  readonly current: () => Session | undefined
}

/** One connection, for as long as it serves. */
export interface Session {
  /** Runs the script with the number of its keys, the keys and the arguments. */
  readonly run: (args: ReadonlyArray<string>) => Promise<unknown>
  /** Gives the connection up, because it does not serve; another one is made. */
  readonly lose: (cause: unknown) => void
}

/** Where Redis is and what it is to do. */
export interface RedisConnectionOptions {
  readonly url: Redacted.Redacted<string>
  readonly script: string
  /** A run of the script that a new connection has to pass. */
  readonly trial: ReadonlyArray<string>
}

/** How long Redis may take to let a connection in, and for its trial. */
const connectTimeout = "2 seconds"

/** A connection that held this long counts as well; one that did not is followed by a longer pause. */
const stable = 10_000

/** The pauses before another attempt, in milliseconds; the last is repeated. */
const pauses = [50, 100, 200, 400, 800, 1600, 2000]

/**
 * Connects, and connects again whenever the connection is lost, until the scope ends; each time Redis goes away and comes
 * back is logged once. Waits for the first attempt, whatever comes of it.
 */
export const make = Effect.fnUntraced(function* (
  options: RedisConnectionOptions
): Effect.fn.Return<RedisConnection, never, Scope.Scope> {
  // Loaded where it is needed alone: most services count in memory.
  const { createClient } = yield* Effect.promise(() => import("redis"))
  const { host } = new URL(Redacted.value(options.url))
  const attempted = yield* Deferred.make<void>()
  let opened: Opened | undefined
  let isAway = false
  let failures = 0

  const serve = Effect.gen(function* () {
    const { lost } = (opened = yield* Effect.timeout(open(createClient, options), connectTimeout))
    const since = performance.now()
    yield* Deferred.succeed(attempted, undefined)
    if (isAway) yield* Effect.logInfo(`Redis at ${host} is back: requests count towards their rate limits again`)
    isAway = false
    return yield* Effect.ensuring(
      Deferred.await(lost),
      Effect.sync(() => {
        if (performance.now() - since >= stable) failures = 0
      })
    )
  })

  const pause = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
    if (!isAway) {
      isAway = true
      yield* Effect.logWarning(
        `Redis at ${host} is away: requests pass without counting towards their rate limits`,
        Cause.squash(cause)
      )
    }
    yield* Deferred.succeed(attempted, undefined)
    const longest = pauses[Math.min(failures++, pauses.length - 1)]!
    yield* Effect.sleep(yield* Random.nextBetween(longest / 2, longest))
  })

  yield* Effect.scoped(serve).pipe(Effect.catchCause(pause), Effect.forever, Effect.forkScoped)
  yield* Deferred.await(attempted)
  return { current: () => (opened === undefined || Deferred.isDoneUnsafe(opened.lost) ? undefined : opened.session) }
})

interface Opened {
  readonly session: Session
  readonly lost: Deferred.Deferred<never, unknown>
}

/** Opens one connection, loads the script and tries it. The client's own reconnecting is off: it never gives up a frozen one. */
const open = Effect.fnUntraced(function* (
  createClient: typeof Redis.createClient,
  { script, trial, url }: RedisConnectionOptions
): Effect.fn.Return<Opened, unknown, Scope.Scope> {
  const lost = yield* Deferred.make<never, unknown>()
  const lose = (cause: unknown) => {
    Deferred.doneUnsafe(lost, Effect.fail(cause))
  }
  const client = yield* Effect.acquireRelease(
    Effect.sync(() =>
      createClient({
        url: Redacted.value(url),
        RESP: 2,
        disableOfflineQueue: true,
        socket: { reconnectStrategy: false }
      }).on("error", lose)
    ),
    (client) =>
      Effect.sync(() => {
        if (client.isOpen) client.destroy()
      })
  )
  const send = (args: ReadonlyArray<string>) =>
    Effect.tryPromise({ try: () => client.sendCommand(args), catch: identity })
  yield* Effect.tryPromise({ try: () => client.connect(), catch: identity })
  const sha = String(yield* send(["SCRIPT", "LOAD", script]))
  yield* send(["EVALSHA", sha, ...trial])
  return { lost, session: { run: (args) => client.sendCommand(["EVALSHA", sha, ...args]), lose } }
})
