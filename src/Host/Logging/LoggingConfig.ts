/**
 * The configuration section `logging`.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Section from "../../Plugins/Section.ts"
import * as LogLevels from "./LogLevels.ts"

/** How log lines look. */
export const formats = ["json", "pretty", "logfmt"] as const

/** How log lines look. */
export type Format = (typeof formats)[number]

/** One of the names, in whatever case it is written. The encoded side lists the names, so that editors complete them. */
const oneOf = <const Names extends ReadonlyArray<string>>(names: Names) => {
  const exact = Schema.Literals(names)
  const canonical = new Map(names.map((name) => [name.toLowerCase(), name]))
  return Schema.Union([exact, Schema.String]).pipe(
    Schema.decodeTo(exact, {
      decode: SchemaGetter.transform((text) => (canonical.get(text.toLowerCase()) ?? text) as Names[number]),
      encode: SchemaGetter.passthrough()
    })
  )
}

const Level = oneOf(LogLevels.names)

/**
 * Overrides as they stand in the configuration, where a `:` in a key (a `_` in a variable) makes a group of its own. A level
 * is checked once its whole namespace is known.
 */
interface Overrides {
  readonly [namespace: string]: string | Overrides
}
const Overrides: Schema.Codec<Overrides> = Schema.Record(
  Schema.String,
  Schema.Union([Schema.Literals(LogLevels.names), Schema.String, Schema.suspend(() => Overrides)])
)

const flatten = (overrides: Overrides, prefix = ""): Record<string, string> =>
  Object.fromEntries(
    Object.entries(overrides).flatMap(([name, value]) =>
      typeof value === "string" ? [[prefix + name, value]] : Object.entries(flatten(value, `${prefix}${name}:`))
    )
  )

/** What the log says, and how it looks. */
export class LoggingConfig extends Section.Service<LoggingConfig>()("logging", {
  /** Lines below this level are not written. */
  minimumLevel: Level.pipe(Schema.withDecodingDefaultKey(Effect.succeed("Information"))),
  /** The minimum level of a namespace and all below it. */
  override: Overrides.pipe(
    Schema.decodeTo(Schema.Record(Schema.String, Level), {
      decode: SchemaGetter.transform((overrides) => flatten(overrides)),
      encode: SchemaGetter.passthrough()
    }),
    Schema.withDecodingDefaultKey(Effect.succeed({}))
  ),
  /** `pretty` on a terminal and `json` elsewhere when absent. */
  format: Schema.optionalKey(oneOf(formats))
}) {}
