/**
 * The text in which a backend without engines of its own keeps a secret, and the step from there to what a read gives.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { type Secret, SecretInput } from "./Secret.ts"
import type { SecretId } from "./SecretId.ts"
import { fields } from "./SecretInputValidation.ts"
import { SecretCorrupt } from "./SecretStorageError.ts"
import * as TotpCodeGenerator from "./TotpCodeGenerator.ts"

const encodeSecret = Schema.encodeSync(SecretInput)
const decodeSecret = Schema.decodeUnknownEffect(SecretInput, { errors: "all" })

/** JSON with all values in the clear. */
export const encode = (secret: SecretInput): string => JSON.stringify(encodeSecret(secret))

/** What {@link encode} wrote, as a read gives it: the seed replaced by the current code. */
export const decode = Effect.fnUntraced(function* (
  id: SecretId,
  text: string,
  totpPeriodInSeconds: number
): Effect.fn.Return<Secret, SecretCorrupt> {
  const corrupt = (reason: string) => new SecretCorrupt({ id: id.id, reason })
  // The parser's own message quotes the text, which is secret.
  const json = yield* Effect.try({ try: (): unknown => JSON.parse(text), catch: () => corrupt("it is not JSON") })
  const secret = yield* Effect.mapError(decodeSecret(json), ({ issue }) =>
    corrupt(
      fields(issue)
        .map(({ field, message }) => `${field}: ${message}`)
        .join("; ")
    )
  )
  if (secret.type !== id.type) return yield* corrupt(`it is a ${secret.type}, the id says ${id.type}`)
  if (secret.type !== "UsernamePasswordTotp") return secret
  const seed = Redacted.value(secret.totp.totpKey.base32Key)
  const { code, ...period } = yield* Effect.orDie(TotpCodeGenerator.current(seed, totpPeriodInSeconds))
  return { ...secret, totp: { totpCode: { code: Redacted.make(code), ...period } } }
})
