import * as Effect from "effect/Effect"
import * as Logging from "../../../src/Host/Logging/Logging.ts"

/** Runs an effect under the host's logging, from `Verbose` on, and gives what was written. */
export const logged = <A, E>(
  effect: Effect.Effect<A, E, Logging.Logging>,
  options: Partial<Parameters<typeof Logging.layer>[0]> = {}
): Effect.Effect<string, E> =>
  Effect.suspend(() => {
    const chunks: Array<string> = []
    return effect.pipe(
      Effect.provide(
        Logging.layer({
          levels: { minimumLevel: "Verbose", override: {} },
          format: "json",
          write: (lines) => chunks.push(lines),
          ...options
        })
      ),
      Effect.map(() => chunks.join(""))
    )
  })

/** Log lines with the positions in stack frames, which change with the test, left out. */
export const withoutPositions = (lines: string): string =>
  lines.replaceAll(/(?:\(|at )(?:[^\s()"\\]*\/)?([\w.]+\.ts):\d+:\d+\)?/g, "($1)")
