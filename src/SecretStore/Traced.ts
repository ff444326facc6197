/**
 * Spans of the store.
 */
import * as Effect from "effect/Effect"
import * as References from "effect/References"
import type * as Tracer from "effect/Tracer"

/**
 * Runs an effect in a span. Where nobody traces there is none, not even the empty one that Effect would make, and no stack
 * is taken for it: reads of secrets are short enough for either to show.
 */
export const traced = <A, E, R>(
  name: string,
  options: Tracer.SpanOptionsNoTrace,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | Exclude<R, Tracer.ParentSpan>> =>
  Effect.withFiber((fiber) =>
    fiber.getRef(References.TracerEnabled)
      ? Effect.withSpan(effect, name, { ...options, captureStackTrace: false })
      : effect
  )

/** Adds attributes to the span of {@link traced}, where there is one. */
export const annotate = (attributes: Record<string, unknown>): Effect.Effect<void> =>
  Effect.withFiber((fiber) =>
    fiber.getRef(References.TracerEnabled) ? Effect.annotateCurrentSpan(attributes) : Effect.void
  )
