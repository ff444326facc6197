/**
 * The metric of secret operations: how many there were and how long they took, by backend, type and outcome.
 *
 * A new operation of `SecretStorage` joins by being wrapped where the service is put together, as the others are.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as SecretType from "./SecretType.ts"
import type { SecretStorageError } from "./SecretStorageError.ts"

/** From a file's tenth of a millisecond to a server that answers at the last moment, in seconds. */
const boundaries = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const duration = Metric.histogram("layerhost.secret.operation.duration", {
  description: "Duration of operations on secrets.",
  boundaries,
  attributes: { unit: "s" }
})

/** The word for each error. A defect is an `error`. */
const outcomes: { readonly [Tag in SecretStorageError["_tag"]]: string } = {
  SecretNotFound: "not_found",
  SecretInvalid: "invalid",
  SecretTypeMismatch: "type_mismatch",
  SecretVersionConflict: "version_conflict",
  SecretVersionNotFound: "version_not_found",
  SecretAccessDenied: "denied",
  SecretBackendUnavailable: "unavailable",
  SecretCorrupt: "corrupt"
}

/** The id or the secret, whose type is told; `undefined` where an operation concerns secrets of all types. */
export interface Subject {
  readonly type: SecretType.SecretType
}

/** Measures operations of a backend, in the registry of whoever runs them. */
export const make =
  (backend: string) =>
  <A, E extends SecretStorageError, R>(
    operation: string,
    subject: Subject | undefined,
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) => {
      const clock = fiber.getRef(Clock.Clock)
      const start = clock.monotonicTimeNanosUnsafe()
      return Effect.onExitPrimitive(effect, (exit) => {
        const seconds = Number(clock.monotonicTimeNanosUnsafe() - start) / 1e9
        seriesOf(operation, backend, subject?.type, outcomeOf(exit)).updateUnsafe(seconds, fiber.context)
        return undefined
      })
    })

const outcomeOf = (exit: Exit.Exit<unknown, SecretStorageError>): string => {
  if (Exit.isSuccess(exit)) return "success"
  if (Cause.hasInterruptsOnly(exit.cause)) return "interrupted"
  const error = exit.cause.reasons.find(Cause.isFailReason)?.error
  return error === undefined ? "error" : outcomes[error._tag]
}

const series = new Map<string, Metric.Metric<number, unknown>>()

/** Looked up once; there are as many as there are operations, backends, types and outcomes. */
const seriesOf = (
  operation: string,
  backend: string,
  type: SecretType.SecretType | undefined,
  outcome: string
): Metric.Metric<number, unknown> => {
  // What is given as a type may be anything, where nobody checked it.
  const known = type === undefined || SecretType.isSecretType(type) ? type : "_OTHER"
  const key = `${operation} ${backend} ${known} ${outcome}`
  let found = series.get(key)
  if (found === undefined) {
    const attributes = { operation, backend, ...(known === undefined ? undefined : { type: known }), outcome }
    found = Metric.withAttributes(duration, attributes)
    series.set(key, found)
  }
  return found
}
