/**
 * The defaults of a section: what its keys are where no source sets them.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Section from "../../Plugins/Section.ts"

/** The default of each key that has one, as a file would hold it, with texts for all values. */
export const of = (section: Section.Any): ReadonlyMap<string, Schema.StringTree> => {
  const { fields } = section.schema as unknown as Schema.Struct<Schema.Struct.Fields>
  return new Map(
    Object.keys(fields).flatMap((name) => {
      // Each key by itself: another that must be set would hide them all.
      const alone = Schema.Struct({ [name]: fields[name]! }) as unknown as Schema.Codec<unknown, unknown>
      const codec = Schema.toCodecStringTree(alone)
      const defaults = Result.flatMap(Schema.decodeUnknownResult(codec)({}), Schema.encodeUnknownResult(codec))
      const value = Result.isSuccess(defaults)
        ? (defaults.success as Record<string, Schema.StringTree>)[name]
        : undefined
      return value === undefined ? [] : [[name, value] as const]
    })
  )
}

/** A default in one line. */
export const toText = (value: Schema.StringTree): string => (typeof value === "string" ? value : JSON.stringify(value))
