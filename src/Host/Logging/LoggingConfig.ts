/**
 * The configuration section `logging`.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Section from "../../Plugins/Section.ts"
import * as ExcludedPaths from "../Http/ExcludedPaths.ts"
import * as LogLevels from "./LogLevels.ts"

/** How log lines look. */
export const formats = ["json", "pretty", "logfmt"] as const

/** How log lines look. */
export type Format = (typeof formats)[number]

const Level = Schema.Literals(LogLevels.names)

/** What the log says, and how it looks. */
export class LoggingConfig extends Section.Service<LoggingConfig>()("logging", {
  minimumLevel: Level.pipe(Schema.withDecodingDefaultKey(Effect.succeed("Information"))).annotateKey({
    description: "Lines below this level are not written."
  }),
  override: Schema.Record(Schema.String, Level)
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
    .annotateKey({ description: "The minimum level of a namespace and all below it; the longest wins." }),
  format: Schema.optionalKey(Schema.Literals(formats)).annotateKey({
    description: "How lines look; pretty on a terminal and json elsewhere when absent."
  }),
  excludedPaths: ExcludedPaths.Field.annotateKey({
    description:
      "The paths of requests that get no line in the log; one that ends in * stands for all paths that begin like it."
  }),
  queries: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))).annotateKey({
    description: "Whether lines of requests hold the query; values of secret-looking names are masked."
  })
}) {}
