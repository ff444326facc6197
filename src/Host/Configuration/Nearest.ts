/**
 * The known name that a misspelled one was likely meant to be.
 */
import { fold } from "./Assignment.ts"

/** The nearest of the known names, regardless of case; undefined where none is near: within a third of its length. */
export const nearest = (name: string, known: ReadonlyArray<string>): string | undefined => {
  let best: string | undefined
  let bestDistance = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const length = Math.max(name.length, candidate.length)
    const limit = Math.max(1, Math.floor(length / 3))
    if (Math.abs(name.length - candidate.length) > limit) continue
    const between = distance(fold(name), fold(candidate))
    if (between <= limit && between < bestDistance) {
      best = candidate
      bestDistance = between
    }
  }
  return best
}

/** The number of characters to insert, delete or replace. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
