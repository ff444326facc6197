/**
 * A backend that keeps secrets in memory and forgets them with its layer: for tests.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as KeyedLock from "./KeyedLock.ts"
import { type Location, SecretBackend } from "./SecretBackend.ts"
import * as SecretId from "./SecretId.ts"
import * as TextBackend from "./TextBackend.ts"

/** Secrets in memory, encoded as on disk, so that no caller shares an object with the store. */
export const layer = (options: TextBackend.Options = {}): Layer.Layer<SecretBackend> =>
  Layer.effect(
    SecretBackend,
    Effect.map(textsInMemory, (texts) => TextBackend.make("memory", texts, options, []))
  )

const textsInMemory = Effect.map(KeyedLock.make, (lock): TextBackend.Texts => {
  const stored = new Map<string, string>()
  const keyOf = ({ bucketSet, id }: Location) => `${bucketSet}/${id.id}`
  return {
    read: (_, location) => Effect.sync(() => Option.fromUndefinedOr(stored.get(keyOf(location)))),
    exists: (_, location) => Effect.sync(() => stored.has(keyOf(location))),
    // Every text has its own times.
    modified: () => DateTime.now,
    list: (_, buckets, bucket) =>
      Effect.sync(() => {
        const ids = [...stored.keys()].flatMap((key) => {
          const [bucketSet, text = ""] = key.split("/")
          return bucketSet === buckets.name ? Option.toArray(SecretId.parse(buckets, text)) : []
        })
        return { ids: ids.filter((id) => id.bucket === bucket), next: Option.none() }
      }),
    create: (_, location, text) =>
      Effect.sync(() => {
        const isFree = !stored.has(keyOf(location))
        if (isFree) stored.set(keyOf(location), text)
        return isFree
      }),
    replace: (_, location, text) => Effect.sync(() => void stored.set(keyOf(location), text)),
    remove: (_, location) => Effect.sync(() => void stored.delete(keyOf(location))),
    locked: (_, location, effect) => lock(keyOf(location), effect)
  }
})
