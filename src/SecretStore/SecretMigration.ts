/**
 * Moves secrets from one backend to another. Ids stay, so whatever holds one finds its secret in the new place.
 *
 * The source is only read. A run that is stopped half-way is simply begun again: what is in the target already, and the same,
 * is passed over. Earlier versions stay behind.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as BucketSet from "./BucketSet.ts"
import type { Secret, SecretInput } from "./Secret.ts"
import type { Location, SecretBackend } from "./SecretBackend.ts"
import * as SecretDocument from "./SecretDocument.ts"
import { validate } from "./SecretInputValidation.ts"
import type { BackendError, SecretCorrupt, SecretInvalid } from "./SecretStorageError.ts"
import * as TotpCodeGenerator from "./TotpCodeGenerator.ts"

type Backend = SecretBackend["Service"]

/** What became of a secret. */
export interface Outcome {
  readonly location: Location
  /**
   * `moved`, and read back the same, or to be so in a dry run; `present` where the target had it already; `conflict` where the
   * target has another one under the id; `needsSeed` where the source does not give the seed of a one-time password; `gone`
   * where it was deleted since the source was listed; `failed` for the reason.
   */
  readonly result: "moved" | "present" | "conflict" | "needsSeed" | "gone" | "failed"
  readonly reason?: string
}

/** From where, to where, and how. */
export interface Options {
  readonly from: Backend
  readonly to: Backend
  /** Whether nothing is written. */
  readonly dryRun: boolean
  /** New seeds, by id, for those that the source does not give. */
  readonly seeds: ReadonlyMap<string, Redacted.Redacted>
}

/** Where all secrets of the sets are. */
export const locations = (
  backend: Backend,
  sets: ReadonlyArray<BucketSet.BucketSet>
): Effect.Effect<ReadonlyArray<Location>, BackendError> =>
  Effect.map(
    Effect.forEach(sets, (buckets) =>
      Effect.forEach(BucketSet.names(buckets), (bucket) =>
        Stream.paginate(Option.none<string>(), (after) =>
          Effect.map(backend.list(buckets, bucket, after), ({ ids, next }) => [ids, Option.map(next, Option.some)])
        ).pipe(
          Stream.map((id): Location => ({ bucketSet: buckets.name, id })),
          Stream.runCollect
        )
      )
    ),
    (found) => found.flat(2)
  )

/** Moves one secret. Fails where a backend is away: then no other will fare better. */
export const move = Effect.fn("SecretMigration.move")(function* (
  location: Location,
  options: Options
): Effect.fn.Return<Outcome, BackendError> {
  return yield* moved(location, options).pipe(
    Effect.map((outcome): Outcome => (typeof outcome === "string" ? { location, result: outcome } : outcome)),
    Effect.catchTags({
      SecretCorrupt: (error) => failed(location, error),
      SecretInvalid: (error) => failed(location, error)
    })
  )
})

const failed = (location: Location, { message }: { readonly message: string }): Effect.Effect<Outcome> =>
  Effect.succeed({ location, result: "failed", reason: message })

/** A secret as its source gives it: perhaps without its seed. */
type Source = SecretInput | SecretDocument.SecretDocument

const moved = Effect.fnUntraced(function* (
  location: Location,
  options: Options
): Effect.fn.Return<Outcome["result"] | Outcome, BackendError | SecretCorrupt | SecretInvalid> {
  const { dryRun, from, seeds, to } = options
  // Other secrets may well be given.
  const found = yield* Effect.catchTag(from.getWithSeed(location), "SecretAccessDenied", (denied) =>
    Effect.succeed(denied)
  )
  if (!Option.isOption(found)) return { location, result: "failed", reason: found.message }
  if (Option.isNone(found)) return "gone"
  const source = yield* withSeed(found.value, seeds.get(location.id.id), to.totpPeriodInSeconds)

  const isHalf = yield* lacksSeed(location, source, to)
  if (!isHalf && (yield* to.exists(location)))
    return (yield* isSame(location, source, options)) ? "present" : "conflict"
  if (!isComplete(source)) return "needsSeed"
  if (dryRun) return "moved"
  const isNew = isHalf
    ? yield* Effect.catchTag(to.update(location, source), "SecretVersionConflict", Effect.die)
    : yield* to.create(location, source)
  if (yield* isSame(location, source, options)) return isNew ? "moved" : "present"
  if (!isNew) return "conflict"
  return { location, result: "failed", reason: "what is read back is not what was written" }
})

const isComplete = (source: Source): source is SecretInput => source.type !== "UsernamePasswordTotp" || "totp" in source

const withSeed = (
  source: Source,
  base32Key: Redacted.Redacted | undefined,
  totpPeriodInSeconds: number
): Effect.Effect<Source, SecretInvalid> =>
  isComplete(source) || base32Key === undefined
    ? Effect.succeed(source)
    : validate({ ...source, totp: { totpKey: { base32Key } } } as SecretInput, totpPeriodInSeconds)

/** Whether the target has the secret but for its seed: a run that was killed may have come so far. */
const lacksSeed = Effect.fnUntraced(function* (location: Location, source: Source, to: Backend) {
  if (source.type !== "UsernamePasswordTotp") return false
  const target = yield* to.getWithSeed(location)
  if (Option.isNone(target) || !isSameDocument(target.value, source)) return false
  return yield* to.get(location).pipe(
    Effect.as(false),
    Effect.catchTag("SecretCorrupt", () => Effect.succeed(true))
  )
})

const isSameDocument = (one: Source, other: Source): boolean =>
  Equal.equals(SecretDocument.encode(one), SecretDocument.encode(other))

/** Whether the target gives back the secret, or codes of its seed where it gives no seed back. */
const isSame = Effect.fnUntraced(function* (location: Location, source: Source, options: Options) {
  const target = yield* options.to.getWithSeed(location)
  if (Option.isNone(target) || !isSameDocument(target.value, source)) return false
  if (source.type !== "UsernamePasswordTotp") return true
  const seed = seedOf(source)
  const targetSeed = seedOf(target.value)
  if (seed !== undefined && targetSeed !== undefined) return seed === targetSeed
  for (let reads = 0; reads < maxReads; reads++) {
    const there = codeOf(yield* options.to.get(location))
    if (there === undefined) return false
    if (seed !== undefined) return TotpCodeGenerator.isCodeOf(seed, there, options.to.totpPeriodInSeconds)
    const here = codeOf(yield* options.from.get(location))
    // Two codes can only be compared within one period.
    if (here === undefined || here.end === there.end) return here?.code === there.code
  }
  return false
})

/** A read that crosses the end of a period is done again. */
const maxReads = 3

const seedOf = (source: Source): string | undefined =>
  source.type === "UsernamePasswordTotp" && "totp" in source ? Redacted.value(source.totp.totpKey.base32Key) : undefined

const codeOf = (secret: Option.Option<Secret>) => {
  if (Option.isNone(secret) || secret.value.type !== "UsernamePasswordTotp") return undefined
  const { code, validTillUtc } = secret.value.totp.totpCode
  return { code: Redacted.value(code), end: DateTime.toEpochMillis(validTillUtc) }
}
