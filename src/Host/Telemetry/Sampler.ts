/** Sampling: which traces are recorded. */

/**
 * Makes a sampler that takes the given share of traces. A trace that already has an id is decided by it, so that all who
 * sample by the same share decide alike; a new one by chance, before it has an id.
 */
export const make = (ratio: number): ((traceId: string | undefined) => boolean) => {
  if (ratio >= 1) return () => true
  if (ratio <= 0) return () => false
  return (traceId) => (traceId === undefined ? Math.random() : fractionOf(traceId)) < ratio
}

/** The last 52 bits of an id, which every tracing system makes at random, as a number from 0 to 1. */
const fractionOf = (traceId: string): number => Number.parseInt(traceId.slice(-13), 16) / 2 ** 52
