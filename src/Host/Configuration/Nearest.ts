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

/** The number of characters to insert, delete, replace or swap with their neighbour. */
const distance = (a: string, b: string): number => {
  let beforeLast: ReadonlyArray<number> = []
  let last: ReadonlyArray<number> = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? beforeLast[j - 2]! + 1 : replaced
      row.push(Math.min(replaced, swapped, last[j]! + 1, row[j - 1]! + 1))
    }
    beforeLast = last
    last = row
  }
  return last[b.length]!
}
