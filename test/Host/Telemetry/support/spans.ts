import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as EffectTracer from "effect/Tracer"
import type { Span } from "../../../../src/Host/Telemetry/Span.ts"
import * as Tracer from "../../../../src/Host/Telemetry/Tracer.ts"

/** A tracer that keeps the spans that ended. */
export const recording = (options: Partial<Tracer.TracerOptions> = {}) => {
  const spans: Array<Span> = []
  const tracer = Tracer.make({
    sampleRatio: 1,
    isExcluded: () => false,
    onEnd: (span) => spans.push(span),
    ...options
  })
  return { spans, tracer }
}

/** A request with an answer. */
export const exchange = {
  request: { method: "GET", url: "/items/7?secret=1", headers: { host: "localhost:8080" } },
  response: { status: 200, route: "/items/{id}", requestId: "r1", clientAddress: "192.0.2.1", scheme: "https" }
} satisfies { request: Tracer.TracedRequest; response: Tracer.TracedResponse }

/** Runs an effect as the handling of a request, as the host does. */
export const handle = <A, E, R>(
  tracer: Tracer.Tracer,
  effect: Effect.Effect<A, E, R>,
  options: { request?: Partial<Tracer.TracedRequest>; response?: Partial<Tracer.TracedResponse> } = {}
): Effect.Effect<{ readonly span: Span; readonly result: A }, E, R> =>
  Effect.suspend(() => {
    const request = { ...exchange.request, ...options.request }
    const span = tracer.beginRequest(request, 1_000_000n)
    return effect.pipe(
      Effect.provideContext(
        Context.make(EffectTracer.Tracer, tracer.effectTracer).pipe(Context.add(EffectTracer.ParentSpan, span))
      ),
      Effect.map((result) => {
        tracer.endRequest(span, request, { ...exchange.response, ...options.response }, 3_500_000n)
        return { span, result }
      })
    )
  })
