/** Medians with ranges. */

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export const quantile = (values: ReadonlyArray<number>, q: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const [below, above] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!]
  return below + (above - below) * (at - Math.floor(at))
}

export const spread = (values: ReadonlyArray<number>): Spread => ({
  median: quantile(values, 0.5),
  min: Math.min(...values),
  max: Math.max(...values)
})

/** The ratio of two measures of the same rounds, round by round. */
export const ratio = (values: ReadonlyArray<number>, others: ReadonlyArray<number>): Spread =>
  spread(values.map((value, round) => value / others[round]!))
