/**
 * Secret ids: short, URL-safe texts that say where a secret is kept.
 */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Hex from "effect/encoding/Hex"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import Sqids from "sqids"
import * as BucketSet from "./BucketSet.ts"
import * as SecretType from "./SecretType.ts"

const TypeId = "~layerhost/SecretStore/SecretId"

/**
 * The id of one secret: its bucket, its type and a random key. {@link generate} and {@link parse} are the ways to get one.
 */
export interface SecretId<out Bucket extends string = string> {
  readonly [TypeId]: typeof TypeId
  readonly bucket: Bucket
  readonly type: SecretType.SecretType
  /** 128 random bits as 32 lower-case hexadecimal digits. */
  readonly key: string
  /** The opaque text that users of a service see, at most 36 characters of `[A-Za-z0-9]`. */
  readonly id: string
}

// Without the library's list of words to avoid: a word that a later list adds would change the canonical spelling of ids
// that are in use already.
const sqids = new Sqids({ blocklist: new Set() })

/** Whether a value is an id of the set. */
export const isSecretId =
  <Bucket extends string>(buckets: BucketSet.BucketSet<Bucket>) =>
  (value: unknown): value is SecretId<Bucket> =>
    typeof value === "object" &&
    value !== null &&
    TypeId in value &&
    BucketSet.has(buckets, (value as SecretId<string>).bucket)

/** A new id in a bucket, its key drawn from a cryptographic source. */
export const generate = <Bucket extends string>(
  buckets: BucketSet.BucketSet<Bucket>,
  bucket: Bucket,
  type: SecretType.SecretType
): Effect.Effect<SecretId<Bucket>> =>
  Effect.sync(() => make(buckets, bucket, type, Hex.encode(SecureRandom.randomBytesUnsafe(16))))

/** The id of a secret whose bucket, type and key are known, as a backend that lays them out in a path finds them. */
export const fromKey = <Bucket extends string>(
  buckets: BucketSet.BucketSet<Bucket>,
  bucket: Bucket,
  type: SecretType.SecretType,
  key: string
): Option.Option<SecretId<Bucket>> =>
  /^[0-9a-f]{32}$/.test(key) ? Option.some(make(buckets, bucket, type, key)) : Option.none()

/**
 * Reads the text of an id. `None` for everything but the one spelling that {@link generate} gives to an id of the set.
 */
export const parse = <Bucket extends string>(
  buckets: BucketSet.BucketSet<Bucket>,
  text: string
): Option.Option<SecretId<Bucket>> => {
  // Also keeps long input away from the decoder, whose work grows with the length.
  if (typeof text !== "string" || !/^[A-Za-z0-9]{1,36}$/.test(text)) return Option.none()
  const [bucketNumber, typeNumber, ...chunks] = sqids.decode(text)
  const bucket = BucketSet.names(buckets).find((name) => buckets.numbers[name] === bucketNumber)
  const type = SecretType.all.find((name) => SecretType.numbers[name] === typeNumber)
  if (bucket === undefined || type === undefined || !areKeyChunks(chunks)) return Option.none()
  const id = make(buckets, bucket, type, joinKey(chunks))
  return id.id === text ? Option.some(id) : Option.none()
}

/**
 * A Schema between the text and the id, for path parameters and fields. What does not parse is one clear error.
 */
export const schema = <Bucket extends string>(
  buckets: BucketSet.BucketSet<Bucket>
): Schema.Codec<SecretId<Bucket>, string> =>
  Schema.String.annotate({ description: `The id of a secret in ${buckets.name}` }).pipe(
    Schema.decodeTo(Schema.declare(isSecretId(buckets), { expected: `a secret id of ${buckets.name}` }), {
      decode: SchemaGetter.transformEffect((text: string) =>
        Effect.fromOption(
          parse(buckets, text),
          () => new SchemaIssue.InvalidValue({ message: `Expected the id of a secret in ${buckets.name}` })
        )
      ),
      encode: SchemaGetter.transform((id: SecretId<Bucket>) => id.id)
    })
  )

const make = <Bucket extends string>(
  buckets: BucketSet.BucketSet<Bucket>,
  bucket: Bucket,
  type: SecretType.SecretType,
  key: string
): SecretId<Bucket> =>
  Object.freeze({
    [TypeId]: TypeId,
    bucket,
    type,
    key,
    id: sqids.encode([buckets.numbers[bucket], SecretType.numbers[type], ...splitKey(key)])
  })

/** A sqid carries safe integers, so the key goes in as three of them. */
const chunkBits = [43n, 43n, 42n] as const
type KeyChunks = readonly [number, number, number]

const splitKey = (key: string): KeyChunks => {
  const bits = BigInt(`0x${key}`)
  return [Number(bits >> 85n), Number((bits >> 42n) & (2n ** 43n - 1n)), Number(bits & (2n ** 42n - 1n))]
}

const areKeyChunks = (numbers: ReadonlyArray<number>): numbers is KeyChunks =>
  numbers.length === chunkBits.length &&
  numbers.every((number, i) => Number.isSafeInteger(number) && BigInt(number) < 2n ** chunkBits[i]!)

const joinKey = ([high, middle, low]: KeyChunks): string =>
  ((BigInt(high) << 85n) | (BigInt(middle) << 42n) | BigInt(low)).toString(16).padStart(32, "0")
