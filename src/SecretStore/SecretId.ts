/**
 * Secret ids: short, URL-safe texts that say where a secret is kept.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import * as BucketSet from "./BucketSet.ts"
import * as RandomHex from "./RandomHex.ts"
import * as SecretType from "./SecretType.ts"
import * as Sqids from "./Sqids.ts"

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
): Effect.Effect<SecretId<Bucket>> => Effect.sync(() => make(buckets, bucket, type, RandomHex.make(16)))

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
  if (typeof text !== "string" || !/^[A-Za-z0-9]{1,36}$/.test(text)) return Option.none()
  const [bucketNumber, typeNumber, ...chunks] = Sqids.decode(text)
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
    id: Sqids.encode([buckets.numbers[bucket], SecretType.numbers[type], ...splitKey(key)])
  })

/** A sqid carries safe integers, so the key goes in as three of them, of 43, 43 and 42 bits. */
type KeyChunks = readonly [high: number, middle: number, low: number]

const keyBytes = Buffer.alloc(16)

const splitKey = (key: string): KeyChunks => {
  keyBytes.write(key, "hex")
  const second = keyBytes.readUInt32BE(4)
  const third = keyBytes.readUInt32BE(8)
  return [
    keyBytes.readUInt32BE(0) * 2 ** 11 + (second >>> 21),
    (second & 0x1fffff) * 2 ** 22 + (third >>> 10),
    (third & 0x3ff) * 2 ** 32 + keyBytes.readUInt32BE(12)
  ]
}

const joinKey = ([high, middle, low]: KeyChunks): string => {
  keyBytes.writeUInt32BE(Math.floor(high / 2 ** 11), 0)
  keyBytes.writeUInt32BE((high % 2 ** 11) * 2 ** 21 + Math.floor(middle / 2 ** 22), 4)
  keyBytes.writeUInt32BE((middle % 2 ** 22) * 2 ** 10 + Math.floor(low / 2 ** 32), 8)
  keyBytes.writeUInt32BE(low % 2 ** 32, 12)
  return keyBytes.toString("hex")
}

const areKeyChunks = (numbers: ReadonlyArray<number>): numbers is KeyChunks =>
  numbers.length === 3 && numbers[0]! < 2 ** 43 && numbers[1]! < 2 ** 43 && numbers[2]! < 2 ** 42
