/** A bar that shows how far a long command is, on standard error, and only on a terminal. */
import * as Effect from "effect/Effect"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"

/** Counts steps. */
export interface Progress {
  /** One more of so many is done. */
  readonly step: (total: number) => Effect.Effect<void>
  /** Leaves the bar's line to what comes after. */
  readonly end: Effect.Effect<void>
}

const width = 30

/** The bar after so many steps. */
export const bar = (done: number, total: number, unit: string): string => {
  const filled = total === 0 ? width : Math.floor((done / total) * width)
  return `[${"█".repeat(filled)}${"░".repeat(width - filled)}] ${done}/${total} ${unit}`
}

/** A bar of its own line. */
export const make = Effect.fnUntraced(function* (unit: string): Effect.fn.Return<Progress, never, Stdio.Stdio> {
  const stdio = yield* Stdio.Stdio
  if (!(yield* stdio.stderrIsTerminal)) return { step: () => Effect.void, end: Effect.void }
  const write = (text: string) => Effect.ignore(Stream.run(Stream.make(text), stdio.stderr()))
  let done = 0
  return {
    step: (total) =>
      Effect.suspend(() => {
        done++
        // Of 100,000 steps not every one is worth a write.
        const isShown = done % Math.ceil(total / 100) === 0 || done === total
        return isShown ? write(`\r${bar(done, total, unit)}`) : Effect.void
      }),
    end: Effect.suspend(() => (done > 0 ? write("\n") : Effect.void))
  }
})
