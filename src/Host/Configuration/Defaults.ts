/**
 * The defaults of a section: what its keys are where no source sets them.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Section from "../../Plugins/Section.ts"

/** What is set of a section, by the first parts of its keys. */
export type Set = Readonly<Record<string, Schema.StringTree>>

/**
 * The default of each key that has one, as a file would hold it, with texts for all values. Of a key of which something is
 * set, it is that with the defaults of all else; a key whose values are not valid has none.
 */
export const of = (section: Section.Any, set: Set = {}): ReadonlyMap<string, Schema.StringTree> => {
  const { fields } = section.schema as unknown as Schema.Struct<Schema.Struct.Fields>
  return new Map(
    Object.keys(fields).flatMap((name) => {
      // Each key by itself: another that must be set would hide them all.
      const alone = Schema.Struct({ [name]: fields[name]! }) as unknown as Schema.Codec<unknown, unknown>
      const codec = Schema.toCodecStringTree(alone)
      const defaults = Result.flatMap(
        Schema.decodeUnknownResult(codec)(Object.hasOwn(set, name) ? { [name]: set[name] } : {}),
        Schema.encodeUnknownResult(codec)
      )
      const value = Result.isSuccess(defaults)
        ? (defaults.success as Record<string, Schema.StringTree>)[name]
        : undefined
      return value === undefined ? [] : [[name, value] as const]
    })
  )
}

/** The default of a key, however deep it stands: what it is where a section around it is there, with nothing in it. */
export const at = (section: Section.Any, [name, ...rest]: ReadonlyArray<string>): Schema.StringTree => {
  if (name === undefined) return undefined
  const around = rest.slice(0, -1).reduceRight<Schema.StringTree>((inner, each) => ({ [each]: inner }), {})
  let value = of(section, rest.length === 0 ? {} : { [name]: around }).get(name)
  for (const each of rest) value = typeof value === "object" ? (value as Set)[each] : undefined
  return value
}

/** The single values below a key, with their keys. */
export function* leaves(key: string, value: Schema.StringTree): Iterable<readonly [key: string, value: string]> {
  if (typeof value === "string") yield [key, value]
  else for (const [name, each] of Object.entries(value ?? {})) yield* leaves(`${key}:${name}`, each)
}

/** A default in one line. */
export const toText = (value: Schema.StringTree): string => (typeof value === "string" ? value : JSON.stringify(value))
