/**
 * The text in which a backend without engines of its own keeps a secret: the JSON of the secret, and beside its fields
 * `metadata` with the version and what is kept of the earlier ones. One text holds it all, so that one write changes it all.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { Secret, SecretInput } from "./Secret.ts"
import * as SecretDocument from "./SecretDocument.ts"
import type { SecretId } from "./SecretId.ts"
import { decode as decodeInput, fields, reveal, withPlainSeed } from "./SecretInputValidation.ts"
import { SecretCorrupt } from "./SecretStorageError.ts"
import * as TotpCodeGenerator from "./TotpCodeGenerator.ts"

const Earlier = Schema.Struct({
  version: Schema.Int,
  created: Schema.DateTimeUtcFromString,
  /** The JSON of the secret, without its seed. */
  secret: Schema.Unknown
})

const Metadata = Schema.Struct({
  version: Schema.Int,
  created: Schema.DateTimeUtcFromString,
  updated: Schema.DateTimeUtcFromString,
  /** The newest first. */
  earlier: Schema.Array(Earlier)
})

/** The metadata in a text. */
export type StoredMetadata = typeof Metadata.Type

/** By hand, since it is a part of every write, and its Schema takes longer than all the rest of the text. */
const encodeMetadata = ({ created, earlier, updated, version }: StoredMetadata): typeof Metadata.Encoded => ({
  version,
  created: DateTime.formatIso(created),
  updated: DateTime.formatIso(updated),
  earlier: earlier.map(({ created, secret, version }) => ({ version, created: DateTime.formatIso(created), secret }))
})

const decodeMetadata = Schema.decodeUnknownOption(Metadata)

/** JSON with all values in the clear. */
export const encode = (secret: SecretInput, metadata: StoredMetadata): string =>
  JSON.stringify({ ...reveal(secret), metadata: encodeMetadata(metadata) })

/** What {@link encode} wrote, with the seed. */
export const decode = (
  id: SecretId,
  text: string,
  totpPeriodInSeconds: number
): Result.Result<SecretInput, SecretCorrupt> => {
  const json = parse(text)
  return Option.isSome(json)
    ? decodeJson(id, json.value, totpPeriodInSeconds)
    : Result.fail(new SecretCorrupt({ id: id.id, reason: "it is not JSON" }))
}

const decodeJson = (
  id: SecretId,
  json: unknown,
  totpPeriodInSeconds: number
): Result.Result<SecretInput, SecretCorrupt> => {
  const corrupt = (reason: string) => Result.fail(new SecretCorrupt({ id: id.id, reason }))
  const decoded = decodeInput(json)
  if (Result.isFailure(decoded)) {
    const reasons = fields(decoded.failure.issue).map(({ field, message }) => `${field}: ${message}`)
    return corrupt(reasons.join("; "))
  }
  const secret = decoded.success
  if (secret.type !== id.type) return corrupt(`it is a ${secret.type}, the id says ${id.type}`)
  // Who writes a file by hand may have a URI.
  const plain = withPlainSeed(secret, totpPeriodInSeconds)
  return Result.isFailure(plain)
    ? corrupt(`${plain.failure.field}: ${plain.failure.message}`)
    : Result.succeed(plain.success)
}

/** A secret as a read gives it: the seed replaced by the current code. */
export const withCode = (secret: SecretInput, totpPeriodInSeconds: number): Effect.Effect<Secret> => {
  if (secret.type !== "UsernamePasswordTotp") return Effect.succeed(secret)
  const seed = Redacted.value(secret.totp.totpKey.base32Key)
  return Effect.map(Effect.orDie(TotpCodeGenerator.current(seed, totpPeriodInSeconds)), ({ code, ...period }) => ({
    ...secret,
    totp: { totpCode: { code: Redacted.make(code), ...period } }
  }))
}

/** What a text says, before anything of it is decoded. */
export const parseObject = (id: SecretId, text: string): Result.Result<object, SecretCorrupt> =>
  Result.fromOption(
    Option.filter(parse(text), Predicate.isObject),
    () => new SecretCorrupt({ id: id.id, reason: "it is not a JSON object" })
  )

/** The metadata beside a secret; `None` where there is none, as in a file that was written by hand. */
export const metadataOf = (id: SecretId, json: object): Result.Result<Option.Option<StoredMetadata>, SecretCorrupt> => {
  if (!("metadata" in json)) return Result.succeed(Option.none())
  const metadata = decodeMetadata(json.metadata)
  return Option.isSome(metadata)
    ? Result.succeed(metadata)
    : Result.fail(new SecretCorrupt({ id: id.id, reason: "its metadata does not decode" }))
}

/** The metadata of a secret that is new. */
export const firstAt = (now: DateTime.Utc): StoredMetadata => ({ version: 1, created: now, updated: now, earlier: [] })

/** The metadata of the version after the one that stands, of which the JSON and the metadata are given. */
export const next = (
  json: object,
  { created, earlier, updated, version }: StoredMetadata,
  now: DateTime.Utc,
  versionsKept: number
): StoredMetadata => ({
  version: version + 1,
  created,
  updated: now,
  earlier: [{ version, created: updated, secret: documentOf(json) }, ...earlier].slice(0, versionsKept - 1)
})

/** The secret of a version that stands or is kept, with the seed that stands; `None` where there is no such version. */
export const atVersion = Effect.fnUntraced(function* (
  id: SecretId,
  json: object,
  { earlier, version: current }: StoredMetadata,
  version: number,
  totpPeriodInSeconds: number
): Effect.fn.Return<Option.Option<SecretInput>, SecretCorrupt> {
  const kept = earlier.find((it) => it.version === version)
  if (version !== current && kept === undefined) return Option.none()
  const document = yield* SecretDocument.decode(id, version === current ? documentOf(json) : kept!.secret)
  if (document.type !== "UsernamePasswordTotp") return Option.some(document)
  const { totp } = { totp: undefined, ...(yield* Effect.fromResult(decodeJson(id, json, totpPeriodInSeconds))) }
  return Option.map(Option.fromUndefinedOr(totp), (totp) => ({ ...document, totp }))
})

// The parser's own message quotes the text, which is secret.
const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** The JSON of the secret alone, without its seed. */
const documentOf = (json: object): object => {
  const { metadata: _, totp: __, ...document } = { metadata: undefined, totp: undefined, ...json }
  return document
}
