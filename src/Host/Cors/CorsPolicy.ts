/**
 * The section `CorsPolicy` of the configuration.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Section from "../../Plugins/Section.ts"
import { DurationText } from "../Configuration/DurationText.ts"
import * as OriginPattern from "./OriginPattern.ts"

/** What stands for everything, and then alone. */
export const any = "*"

/** A list in which `*` alone means any. */
const listOf = (element: Schema.Codec<string>) =>
  Schema.Array(Schema.Union([Schema.Literal(any), element]))
    .check(
      Schema.makeFilter((list) => (list.includes(any) && list.length > 1 ? "* means any, and then stands alone" : true))
    )
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([any])))

const Origin = Schema.String.check(
  Schema.makeFilter((text) => {
    const pattern = OriginPattern.parse(text)
    return Result.isSuccess(pattern) ? true : pattern.failure
  })
)

const Token = (expected: string) => Schema.String.check(Schema.isPattern(/^[\w!#$%&'+.^`|~-]+$/, { expected }))

const Fields = Section.Service<CorsPolicy>()("CorsPolicy", {
  origins: listOf(Origin).annotateKey({
    description: "Origins that may read answers; https://*.shop.example stands for all below a domain."
  }),
  methods: listOf(Token("a method")).annotateKey({ description: "Methods that they may use." }),
  headers: listOf(Token("the name of a header")).annotateKey({ description: "Headers that they may send." }),
  exposedHeaders: listOf(Token("the name of a header")).annotateKey({
    description: "Headers of answers that they may read."
  }),
  allowCredentials: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))).annotateKey({
    description:
      "Whether they may send cookies and other credentials. For any origin they may not: such a policy would protect nothing."
  }),
  maxAge: Schema.optionalKey(DurationText).annotateKey({
    description: "How long browsers keep what a preflight said; five seconds when absent."
  })
})

/** What scripts of other origins may do. */
export class CorsPolicy extends Fields {
  static override readonly schema = Fields.schema.check(
    Schema.makeFilter(({ allowCredentials, origins }) =>
      allowCredentials && origins.includes(any)
        ? { path: ["allowCredentials"], issue: "Expected false where any origin is allowed; name the origins instead" }
        : true
    )
  )
}
