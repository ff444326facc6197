/**
 * Sends one kind of telemetry in batches, whatever the collector does: it tries again what may succeed later, waits longer
 * each time, and drops what is too old or too much. Whoever hands something over never waits.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type { Scope } from "effect/Scope"
import type { Encoding, Items } from "./Encoding.ts"
import { type Batch, ExportQueue } from "./ExportQueue.ts"
import type { DropReason, ExportTrouble } from "./ExportTrouble.ts"
import type { Signal } from "./Signal.ts"
import { type Send, SendError } from "./Transport.ts"

/** How an exporter sends. */
export interface ExporterOptions<S extends Signal> {
  readonly signal: S
  readonly encoding: Encoding
  readonly send: Send
  readonly trouble: ExportTrouble
  /** How long one attempt may take. */
  readonly timeout: Duration.Duration
  /** How long what is left may take in the end. */
  readonly shutdownTimeout: Duration.Duration
}

/** Takes what is to be sent. */
export interface Exporter<S extends Signal> {
  /** Never throws: an item that cannot be made is dropped. */
  readonly add: (make: () => Items[S]) => void
  /** Sends what is left, within the time for it; what comes afterwards is dropped. */
  readonly drain: Effect.Effect<void>
}

/** How long a batch that is not full waits for more. */
const lingering = Duration.seconds(1)

/** A batch that could not be delivered for this long is dropped. */
const maxAge = Duration.seconds(60)

/** What a collector may ask for at most. */
const maxRetryAfter = Duration.minutes(5)

/** Sends until it is drained or the scope closes. */
export const make = Effect.fnUntraced(function* <S extends Signal>(
  options: ExporterOptions<S>
): Effect.fn.Return<Exporter<S>, never, Scope> {
  const { encoding, signal, trouble } = options
  const context = yield* Effect.context<never>()
  const queue = new ExportQueue()
  const full = Latch.makeUnsafe()
  const closing = Latch.makeUnsafe()
  /** Attempts in a row that failed, over all batches. */
  let failures = 0
  /** The items of the batch that is being delivered. */
  let delivering = 0

  const drop = (reason: DropReason, count: number) => trouble.dropped(signal, reason, count, context)

  const wait = (duration: Duration.Duration) => Effect.raceFirst(Effect.sleep(duration), closing.await)

  const attempt = ({ bytes }: Batch) =>
    Effect.suspend(() => options.send(signal, encoding.request(signal, bytes))).pipe(
      Effect.timeoutOrElse({ duration: options.timeout, orElse: () => Effect.fail(timedOut(options.timeout)) }),
      Effect.result
    )

  const deliver = Effect.fnUntraced(function* (batch: Batch) {
    const clock = yield* Clock.Clock
    const start = clock.currentTimeMillisUnsafe()
    while (true) {
      const sent = yield* attempt(batch)
      if (Result.isSuccess(sent)) {
        failures = 0
        yield* trouble.succeeded(signal)
        const rejected = encoding.rejected(signal, sent.success)
        if (rejected !== undefined) drop("rejected", rejected.count)
        return
      }
      const error = sent.failure
      failures++
      yield* trouble.failed(signal, error.message)
      if (closing.isOpen()) return drop("shutdown", batch.count + queue.clear())
      const isTooOld = clock.currentTimeMillisUnsafe() - start >= Duration.toMillis(maxAge)
      const isGivenUp = !error.retryable || isTooOld
      if (isGivenUp) drop(error.retryable ? "expired" : "refused", batch.count)
      // A collector that refuses a batch most likely refuses the next one too.
      yield* wait(Duration.min(error.retryAfter ?? (yield* backoff(failures)), maxRetryAfter))
      if (isGivenUp) return
    }
  })

  const run = Effect.gen(function* () {
    while (!closing.isOpen() || queue.size > 0) {
      if (!queue.hasBatch) {
        full.closeUnsafe()
        yield* wait(lingering).pipe(Effect.raceFirst(full.await))
      }
      const batch = queue.takeBatch()
      if (batch === undefined) continue
      delivering = batch.count
      yield* deliver(batch)
      delivering = 0
    }
  })

  const fiber = yield* Effect.forkScoped(run)

  return {
    add: (make) => {
      if (closing.isOpen()) return drop("shutdown", 1)
      try {
        if (!queue.offer(encoding.item(signal, make()))) drop("queue_full", 1)
        else if (queue.hasBatch) full.openUnsafe()
      } catch {
        drop("malformed", 1)
      }
    },
    drain: Effect.sync(() => closing.openUnsafe()).pipe(
      Effect.andThen(Effect.timeoutOption(Fiber.await(fiber), options.shutdownTimeout)),
      Effect.andThen(Fiber.interrupt(fiber)),
      Effect.andThen(Effect.sync(() => drop("shutdown", delivering + queue.clear())))
    )
  }
})

const timedOut = (timeout: Duration.Duration): SendError =>
  new SendError({
    message: `no answer within ${Duration.format(timeout)}`,
    retryable: true,
    retryAfter: undefined
  })

/** 1 s, 2 s, 4 s and so on up to 30 s, each by chance up to a half more, so that not all services come at once. */
const backoff = (failures: number): Effect.Effect<Duration.Duration> =>
  Effect.map(Random.next, (random) => Duration.millis(Math.min(1000 * 2 ** (failures - 1), 30_000) * (1 + random / 2)))
