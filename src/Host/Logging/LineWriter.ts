/**
 * Buffered output of log lines: the lines of one turn of the event loop go out in one write.
 *
 * A reader that is slower than the log neither stops the service nor fills its memory: while the output is full, lines
 * wait, and beyond a bound they are dropped and counted, and one line says how many once the output takes more.
 */
import * as Effect from "effect/Effect"
import type { Writable } from "node:stream"

/** Where lines go to. */
export interface Sink {
  /** Takes whole lines; false asks to wait before the next call. Never throws. */
  readonly write: (lines: string) => boolean
  /** Calls back once when `write` may be called again. */
  readonly onceReady: (ready: () => void) => void
}

/** Takes lines, and writes them soon. */
export interface LineWriter {
  /** Takes one line, its end included. */
  readonly add: (line: string) => void
  /** Hands everything to the sink now. */
  readonly flush: () => void
  /** Flushes, and waits a second at most for a sink that is full. Lines that come later are written, each at once. */
  readonly close: Effect.Effect<void>
}

/** More than this waits for no turn of the event loop. */
const flushAt = 65_536

/** How long {@link LineWriter.close} waits for a sink that is full, in milliseconds. */
const closeTimeout = 1000

/** Makes a writer. `maxPending` is the bound of what waits for a sink that is full, in characters: 8 Mi when absent. */
export const make = (
  sink: Sink,
  options: {
    /** The line that tells of lines that were dropped. */
    readonly dropped: (count: number) => string
    readonly maxPending?: number | undefined
  }
): LineWriter => {
  const maxPending = options.maxPending ?? 8 * 1024 * 1024
  let pending = ""
  let dropped = 0
  let isScheduled = false
  let isFull = false
  let isClosed = false

  const write = () => {
    isScheduled = false
    const lines = dropped === 0 ? pending : pending + options.dropped(dropped)
    pending = ""
    dropped = 0
    if (lines === "") return
    if (sink.write(lines)) return
    isFull = true
    sink.onceReady(() => {
      isFull = false
      write()
    })
  }
  const writeUnlessFull = () => {
    if (!isFull) write()
  }
  return {
    add: (line) => {
      if (pending.length + line.length > maxPending) {
        dropped++
        return
      }
      pending += line
      if (isFull) return
      if (isClosed || pending.length >= flushAt) {
        write()
      } else if (!isScheduled) {
        isScheduled = true
        setImmediate(writeUnlessFull)
      }
    },
    flush: write,
    close: Effect.callback<void>((resume) => {
      isClosed = true
      writeUnlessFull()
      // The wait is for the machine, not for a clock that a test may hold.
      const timeout = setTimeout(() => resume(Effect.void), closeTimeout)
      const resumeOnceTaken = () => {
        if (isFull) return sink.onceReady(resumeOnceTaken)
        clearTimeout(timeout)
        resume(Effect.void)
      }
      resumeOnceTaken()
    })
  }
}

/** A function as a sink that is never full. */
export const fromFunction = (write: (lines: string) => void): Sink => ({
  write: (lines) => {
    write(lines)
    return true
  },
  onceReady: (ready) => ready()
})

/** A stream as a sink. A stream that is closed or broken, as after `service | head`, swallows the lines. */
export const fromStream = (stream: Writable): Sink => {
  if (!guarded.has(stream)) {
    guarded.add(stream)
    stream.on("error", () => {})
  }
  return {
    write: (lines) => stream.write(lines) || !stream.writable,
    onceReady: (ready) => {
      const settle = () => {
        for (const event of settled) stream.off(event, settle)
        ready()
      }
      for (const event of settled) stream.once(event, settle)
    }
  }
}

const settled = ["drain", "error", "close"]

/** Streams with a listener against errors. It stays: an error may come after the last write. */
const guarded = new WeakSet<Writable>()
