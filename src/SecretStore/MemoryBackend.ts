/**
 * A backend that keeps secrets in memory and forgets them with its layer: for tests.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type Location, SecretBackend } from "./SecretBackend.ts"
import * as StoredSecret from "./StoredSecret.ts"

/** Secrets in memory, encoded as on disk, so that no caller shares an object with the store. */
export const layer = (options?: { readonly totpPeriodInSeconds?: number }): Layer.Layer<SecretBackend> =>
  Layer.sync(SecretBackend, () => {
    const stored = new Map<string, string>()
    const keyOf = ({ bucketSet, id }: Location) => `${bucketSet}/${id.id}`
    return {
      name: "memory",
      get: (location) =>
        Effect.suspend(() => {
          const text = stored.get(keyOf(location))
          return text === undefined
            ? Effect.succeedNone
            : Effect.asSome(StoredSecret.decode(location.id, text, options?.totpPeriodInSeconds ?? 30))
        }),
      create: (location, secret) =>
        Effect.sync(() => {
          if (stored.has(keyOf(location))) throw new Error(`The secret ${location.id.id} exists already`)
          stored.set(keyOf(location), StoredSecret.encode(secret))
        }),
      update: (location, secret) =>
        Effect.sync(() => {
          const found = stored.has(keyOf(location))
          if (found) stored.set(keyOf(location), StoredSecret.encode(secret))
          return found
        }),
      delete: (location) => Effect.sync(() => void stored.delete(keyOf(location))),
      healthChecks: []
    }
  })
