/**
 * Metrics that are looked up when somebody reads them, such as the memory of the process, instead of being kept up to date.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Metric from "effect/Metric"
import type { Scope } from "effect/Scope"

/** A series and how its value is found. */
export interface Observed {
  readonly name: string
  readonly description: string
  /** In UCUM, for example `s` or `By`. */
  readonly unit: string
  readonly attributes?: Readonly<Record<string, string>>
  /** A `counter` only grows, an `upDownCounter` adds up over processes, a `gauge` does not. */
  readonly kind: "counter" | "upDownCounter" | "gauge"
  readonly read: () => number
}

/** Registers series in the registry of the current context until the scope closes. */
export const register = Effect.fnUntraced(function* (
  observed: ReadonlyArray<Observed>
): Effect.fn.Return<void, never, Scope> {
  const context = yield* Effect.context<never>()
  const registrations = observed.map((each) => registerOne(each, context))
  yield* Effect.addFinalizer(() => Effect.sync(() => registrations.forEach(({ remove }) => remove())))
})

const registerOne = (observed: Observed, context: Context.Context<never>): Metric.Registration => {
  const { description, kind, name } = observed
  const read = () => {
    try {
      return observed.read()
    } catch {
      // One value that cannot be had must not take all others with it.
      return Number.NaN
    }
  }
  const attributes = { ...observed.attributes, unit: observed.unit }
  if (kind === "gauge") {
    const gauge = Metric.gauge(name, { description, attributes })
    return Metric.registerUnsafe(gauge, context, { get: () => ({ value: read() }), ...readOnly })
  }
  const incremental = kind === "counter"
  const counter = Metric.counter(name, { description, attributes, incremental })
  return Metric.registerUnsafe(counter, context, { get: () => ({ count: read(), incremental }), ...readOnly })
}

const readOnly = { update: constVoid, modify: constVoid }

/**
 * A value that is found at most once a second, for series that share one costly or resetting look-up: those that are read
 * together then belong together.
 */
export const shared = <A>(find: () => A): (() => A) => {
  let value: A
  let until = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now >= until) {
      value = find()
      until = now + 1000
    }
    return value
  }
}
