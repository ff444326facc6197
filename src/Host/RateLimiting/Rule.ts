/**
 * A limit on requests, and how its period is written.
 */
import * as Result from "effect/Result"

/** At most `limit` requests in each window of a period. */
export interface Rule {
  /** The period as the configuration has it, for example `15m`. */
  readonly period: string
  readonly periodMillis: number
  readonly limit: number
}

const millisOf: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A century: far beyond any use, and its end is still a date. */
const longest = 36_525 * 86_400_000

/** Reads a whole number and `s`, `m`, `h` or `d` into milliseconds. */
export const parsePeriod = (text: string): Result.Result<number, string> => {
  const [, amount, unit] = /^(\d+)([smhd])$/.exec(text) ?? []
  const millis = unit === undefined ? 0 : Number(amount) * millisOf[unit]!
  return millis > 0 && millis <= longest
    ? Result.succeed(millis)
    : Result.fail(`${text} is not a period: a whole number above 0 and s, m, h or d, at most 36525d`)
}
