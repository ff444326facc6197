/**
 * The section `compression` of the configuration.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Section from "../../Plugins/Section.ts"

/** How answers are compressed. */
export class CompressionConfig extends Section.Service<CompressionConfig>()("compression", {
  enabled: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(true))).annotateKey({
    description: "Whether answers are; compressed requests are read either way."
  }),
  minimumSize: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(1024)))
    .annotateKey({
      description: "Answers with fewer bytes stay as they are: what fits into one packet is not sent faster."
    })
}) {}
