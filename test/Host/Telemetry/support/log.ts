import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as References from "effect/References"

/** Loggers that keep the messages of all lines, each behind its level. */
export const capture = () => {
  const lines: Array<string> = []
  const logger = Logger.make(({ logLevel, message }) => {
    lines.push(`${logLevel}: ${(message as ReadonlyArray<unknown>)[0]}`)
  })
  const provide = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provideService(effect, References.CurrentLoggers, new Set([logger]))
  return { lines, provide }
}
