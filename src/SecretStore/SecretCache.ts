/**
 * A read cache in front of a backend: what was read stays good for a short time, and for longer while the backend is away.
 *
 * Only `get` is answered from it, and never for a one-time password, whose code must be the server's own. What this
 * instance writes, it reads; what others write shows when the time is over.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type { Secret } from "./Secret.ts"
import { type Location, SecretBackend } from "./SecretBackend.ts"
import type { SecretBackendUnavailable } from "./SecretStorageError.ts"
import { SecretStoreConfig } from "./SecretStoreConfig.ts"

/** How long secrets are kept, and how many. */
export interface Options {
  /** How long a secret is given without asking the backend. Zero asks it every time. */
  readonly timeToLive: Duration.Duration
  /** How much longer it is given while the backend is away: stale, perhaps. Zero for never. */
  readonly staleFor: Duration.Duration
  /** The most secrets that are kept. The oldest make room. */
  readonly capacity: number
}

interface Entry {
  readonly secret: Secret
  /** When it was asked for: it may be of any time since. */
  readonly readAtMillis: number
}

/** A backend that is away is asked again after the time to live, but no more often than this. */
const minPauseMillis = 1000

/** A backend that answers reads from memory where it may. */
export const make = (backend: SecretBackend["Service"], options: Options): SecretBackend["Service"] => {
  const liveMillis = Duration.toMillis(options.timeToLive)
  const keptMillis = liveMillis + Duration.toMillis(options.staleFor)
  // In the order of their reading, so that the first is the oldest.
  const entries = new Map<string, Entry>()
  let changes = 0
  let awayUntilMillis = 0

  const forget = (location: Location) => {
    entries.delete(keyOf(location))
    changes++
  }

  const keep = (location: Location, entry: Entry, now: number) => {
    entries.delete(keyOf(location))
    entries.set(keyOf(location), entry)
    for (const [key, { readAtMillis }] of entries) {
      // Nor is a secret in memory for longer than it can be of use.
      if (entries.size <= options.capacity && now < readAtMillis + keptMillis) break
      entries.delete(key)
    }
  }

  const read = Effect.fnUntraced(function* (location: Location, now: number) {
    const changesBefore = changes
    const secret = yield* backend.get(location)
    awayUntilMillis = 0
    // A write that came between may have come after what was read here.
    if (changes === changesBefore) {
      if (Option.isSome(secret))
        keep(location, { secret: secret.value, readAtMillis: now }, yield* Clock.currentTimeMillis)
      else entries.delete(keyOf(location))
    }
    return secret
  })

  /** What is known of a secret while the backend is away; its error where nothing is known. */
  const stale = Effect.fnUntraced(function* (location: Location, error?: SecretBackendUnavailable) {
    const now = yield* Clock.currentTimeMillis
    if (error !== undefined) awayUntilMillis = now + Math.max(liveMillis, minPauseMillis)
    const entry = entries.get(keyOf(location))
    if (entry === undefined || now >= entry.readAtMillis + keptMillis) return Option.none()
    yield* Effect.annotateCurrentSpan({ "secret.stale": true })
    yield* Metric.update(Metric.withAttributes(staleReads, { backend: backend.name, type: location.id.type }), 1)
    return Option.some(entry.secret)
  })

  const changing = <A, E>(location: Location, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      forget(location)
      return Effect.ensuring(
        effect,
        Effect.sync(() => forget(location))
      )
    })

  return {
    ...backend,
    get: Effect.fnUntraced(function* (location) {
      if (location.id.type === "UsernamePasswordTotp") return yield* backend.get(location)
      const now = yield* Clock.currentTimeMillis
      const entry = entries.get(keyOf(location))
      if (entry !== undefined && now < entry.readAtMillis + liveMillis) return Option.some(entry.secret)
      const known = now < awayUntilMillis ? yield* stale(location) : Option.none()
      if (Option.isSome(known)) return known
      return yield* read(location, now).pipe(
        Effect.tapError(({ _tag }) => Effect.sync(() => _tag === "SecretBackendUnavailable" || forget(location))),
        Effect.catchTag("SecretBackendUnavailable", (error) =>
          Effect.flatMap(stale(location, error), (known) => (Option.isSome(known) ? Effect.succeed(known) : error))
        )
      )
    }),
    update: (location, ...rest) => changing(location, backend.update(location, ...rest)),
    restore: (location, ...rest) => changing(location, backend.restore(location, ...rest)),
    delete: (location) => changing(location, backend.delete(location))
  }
}

/** {@link make} over the provided backend. */
export const layer = (options: Options): Layer.Layer<SecretBackend, never, SecretBackend> =>
  Layer.effect(
    SecretBackend,
    SecretBackend.useSync((backend) => make(backend, options))
  )

/** The cache that the configuration describes, over the provided backend; the backend alone where it describes none. */
export const layerConfig: Layer.Layer<SecretBackend, never, SecretBackend | SecretStoreConfig> = Layer.effect(
  SecretBackend,
  Effect.gen(function* () {
    const backend = yield* SecretBackend
    const { cacheCapacity: capacity, cacheInSeconds, cacheStaleInSeconds } = yield* SecretStoreConfig
    if (cacheInSeconds + cacheStaleInSeconds === 0) return backend
    const timeToLive = Duration.seconds(cacheInSeconds)
    return make(backend, { timeToLive, staleFor: Duration.seconds(cacheStaleInSeconds), capacity })
  })
)

const staleReads = Metric.counter("layerhost.secret.stale_reads", {
  description: "Secrets that were read from the cache while the backend was away.",
  incremental: true
})

const keyOf = ({ bucketSet, id }: Location): string => `${bucketSet}/${id.id}`
