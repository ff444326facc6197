/**
 * Durations as people write them in configuration.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaTransformation from "effect/SchemaTransformation"

const units: Readonly<Record<string, Duration.Unit>> = {
  ms: "millis",
  s: "seconds",
  m: "minutes",
  h: "hours",
  d: "days"
}

const short = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/

/** Reads `30 seconds`, `30s` (also `ms`, `m`, `h`, `d`) and ISO 8601 (`PT30S`); a bare number has no unit and is none. */
export const parse = (text: string): Option.Option<Duration.Duration> => {
  const [, amount, unit] = short.exec(text) ?? []
  const words = unit === undefined ? text : `${amount} ${units[unit]}`
  return Duration.fromInput(words as Duration.Input).pipe(
    Option.orElse(() => Duration.fromIso(text)),
    Option.filter((duration) => Duration.isFinite(duration) && !Duration.isNegative(duration))
  )
}

/** A duration that is neither negative nor endless, from text as {@link parse} reads it. */
export const DurationText = Schema.String.pipe(
  Schema.decodeTo(
    Schema.Duration,
    SchemaTransformation.transformEffect<Duration.Duration, string>({
      decode: (text, options) =>
        Option.match(parse(text), {
          onNone: () =>
            Effect.fail(
              new SchemaIssue.InvalidValue(
                { expected: 'a duration such as "30 seconds", "30s" or "PT30S"' },
                text,
                options
              )
            ),
          onSome: Effect.succeed
        }),
      encode: (duration) => Effect.succeed(format(duration))
    })
  )
)

/** A duration in the largest unit that leaves a whole number. */
export const format = (duration: Duration.Duration): string => {
  const millis = Duration.toMillis(duration)
  for (const [unit, length] of lengths) {
    if (millis >= length && millis % length === 0) return `${millis / length} ${unit}${millis === length ? "" : "s"}`
  }
  return `${millis / 1000} seconds`
}

const lengths = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000]
] as const
