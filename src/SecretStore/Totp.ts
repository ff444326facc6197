/**
 * The one-time password part of a secret: the seed that is written, and the code that is read.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Base32 from "./Base32.ts"
import { isUri, seedOf } from "./OtpauthUri.ts"

const Seed = Schema.String.pipe(
  Schema.decodeTo(
    Schema.String.check(
      Schema.makeFilter(
        (text: string) => Option.isSome(Option.flatMap(Result.getSuccess(seedOf(text)), Base32.decode)),
        {
          expected: "Base32 text: letters and the digits 2 to 7"
        }
      )
    ),
    {
      decode: SchemaGetter.transformEffect((text: string) =>
        Effect.fromResult(
          Result.mapBoth(seedOf(text), {
            onFailure: (message) => new SchemaIssue.InvalidValue({ message }),
            // A URI stays as it is until the period is known that its own has to be.
            onSuccess: (seed) => (isUri(text) ? text : Base32.normalize(seed))
          })
        )
      ),
      encode: SchemaGetter.passthrough()
    }
  )
)

/**
 * The seed, as the issuer of the account shows it: Base32, in which spaces and lower case do no harm, or the `otpauth://`
 * URI of its QR code.
 */
export const TotpKey = Schema.Struct({ base32Key: Schema.RedactedFromValue(Seed) }).annotate({ identifier: "TotpKey" })
export type TotpKey = typeof TotpKey.Type

/** A code with the end of the period that it belongs to. */
export const TotpCode = Schema.Struct({
  code: Schema.RedactedFromValue(Schema.String.annotate({ description: "6 digits" })),
  remainingSeconds: Schema.Int,
  validTillUtc: Schema.DateTimeUtcFromString
}).annotate({ identifier: "TotpCode" })
export type TotpCode = typeof TotpCode.Type

/** What a write takes: the seed. A code is ignored. */
export const TotpInput = Schema.Struct({ totpKey: TotpKey }).annotate({ identifier: "TotpInput" })
export type TotpInput = typeof TotpInput.Type

/** What a read gives: the code. The seed never comes back. */
export const Totp = Schema.Struct({ totpCode: TotpCode }).annotate({ identifier: "Totp" })
export type Totp = typeof Totp.Type
