/**
 * Series that are counted in plain numbers and looked up when somebody reads them.
 *
 * Effect's metrics look their series up in the registry each time that they are updated. What is counted with every request
 * is found once, at start.
 */
import * as Context from "effect/Context"
import * as Metric from "effect/Metric"

/** A number that is added to. */
export interface Counter {
  readonly add: (amount: number) => void
}

/** Observations, counted by size. */
export interface Histogram {
  readonly record: (value: number) => void
}

/** The series of each registry, by name and attributes: hosts in one registry count together, as Effect's metrics do. */
const known = new WeakMap<object, Map<string, unknown>>()

const shared = <Series>(
  context: Context.Context<never>,
  { attributes, id }: Metric.Metric<never, unknown>,
  make: () => Series
): Series => {
  const registry = Context.get(context, Metric.MetricRegistry)
  let all = known.get(registry)
  if (all === undefined) known.set(registry, (all = new Map()))
  const key = `${id} ${JSON.stringify(attributes)}`
  let series = all.get(key) as Series | undefined
  if (series === undefined) all.set(key, (series = make()))
  return series
}

/** The series of a counter, in the registry of a context. */
export const counter = (
  name: string,
  options: { readonly description: string; readonly attributes: Record<string, string>; readonly incremental: boolean },
  context: Context.Context<never>
): Counter => {
  const metric = Metric.counter(name, options)
  return shared(context, metric, () => {
    const { incremental } = options
    let count = 0
    Metric.registerUnsafe(metric, context, { get: () => ({ count, incremental }), ...readOnly })
    return { add: (amount) => void (count += amount) }
  })
}

/** The series of a histogram, in the registry of a context. `boundaries` are the upper bounds of its buckets, in order. */
export const histogram = (
  name: string,
  options: {
    readonly description: string
    readonly attributes: Record<string, string>
    readonly boundaries: ReadonlyArray<number>
  },
  context: Context.Context<never>
): Histogram => {
  const metric = Metric.histogram(name, options)
  return shared(context, metric, () => {
    const { boundaries } = options
    const counts = new Uint32Array(boundaries.length)
    let count = 0
    let sum = 0
    let min = Number.MAX_VALUE
    let max = -Number.MAX_VALUE
    const buckets = (): Array<[number, number]> => {
      let below = 0
      return boundaries.map((boundary, i) => [boundary, (below += counts[i]!)])
    }
    Metric.registerUnsafe(metric, context, { get: () => ({ buckets: buckets(), count, min, max, sum }), ...readOnly })
    return {
      record: (value) => {
        // Most requests are quick, so that the first buckets take most.
        let i = 0
        while (i < boundaries.length && value > boundaries[i]!) i++
        if (i < boundaries.length) counts[i]!++
        count++
        sum += value
        if (value < min) min = value
        if (value > max) max = value
      }
    }
  })
}

const readOnly = { update: () => {}, modify: () => {} }
