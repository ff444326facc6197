/** The word about a collector that is in trouble: one log line when it begins, one when it ends. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { Signal } from "./Signal.ts"

/** Why telemetry was dropped. */
export type DropReason = "queue_full" | "malformed" | "expired" | "refused" | "rejected" | "shutdown"

const droppedItems = Metric.counter("layerhost.telemetry.dropped", {
  description: "Spans, metrics and log lines that were not exported, by reason.",
  incremental: true,
  attributes: { unit: "{item}" }
})

/** Kept by all exporters together. */
export class ExportTrouble {
  readonly #endpoint: string
  readonly #failing = new Set<Signal>()
  #dropped = 0

  constructor(endpoint: string) {
    this.#endpoint = endpoint
  }

  /** Says so where nothing has failed before. */
  failed(signal: Signal, reason: string): Effect.Effect<void> {
    return Effect.suspend(() => {
      const isFirst = this.#failing.size === 0
      this.#failing.add(signal)
      return isFirst
        ? log(Effect.logWarning(`Telemetry cannot be exported to ${this.#endpoint}: ${reason}`, { signal }))
        : Effect.void
    })
  }

  /** Says so where it was the last one that had failed. */
  succeeded(signal: Signal): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (!this.#failing.delete(signal) || this.#failing.size > 0) return Effect.void
      const dropped = this.#dropped
      this.#dropped = 0
      return log(Effect.logInfo(`Telemetry is exported to ${this.#endpoint} again`, { dropped }))
    })
  }

  /** Counts what was dropped, in the registry of the context. */
  dropped(signal: Signal, reason: DropReason, count: number, context: Context.Context<never>): void {
    if (count === 0) return
    this.#dropped += count
    Metric.withAttributes(droppedItems, { signal, reason }).updateUnsafe(count, context)
  }
}

const log = Effect.annotateLogs({ namespace: "layerhost.host.telemetry" })
