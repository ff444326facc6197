/**
 * Media types: which of JSON and YAML a body is in, and which of them a client would rather have.
 *
 * See RFC 9110, sections 8.3 and 12.5.1 (https://www.rfc-editor.org/rfc/rfc9110), and RFC 9512 for YAML's media type.
 */

import * as Memo from "../Memo.ts"

/** The type and subtype of a `Content-Type` value, in lower case and without parameters. */
export const essence = (contentType: string): string => {
  const end = contentType.indexOf(";")
  return (end < 0 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

/** The `charset` of a `Content-Type` value; absent where it names none, or UTF-8 as nearly everybody does. */
export const charset = (contentType: string): string | undefined => {
  if (!contentType.includes(";")) return undefined
  const name = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]
  return name === undefined || /^utf-?8$/i.test(name) ? undefined : name
}

const yamlTypes = new Set(["application/yaml", "text/yaml", "application/x-yaml", "text/x-yaml"])

/** Whether a media type is YAML: RFC 9512's, the older names, and any with the suffix `+yaml`. */
export const isYaml = (mediaType: string): boolean => yamlTypes.has(mediaType) || mediaType.endsWith("+yaml")

/** Whether a media type is JSON, or any with the suffix `+json`. */
export const isJson = (mediaType: string): boolean => mediaType === "application/json" || mediaType.endsWith("+json")

/** The YAML type beside a JSON one: `application/problem+yaml` for `application/problem+json`. */
export const yamlOf = (jsonType: string): string => jsonType.replace(/json$/, "yaml")

/**
 * Whether a client that sends this `Accept` header would rather have YAML than JSON: it names YAML, and JSON not with the
 * same or a higher quality; or it refuses JSON by name and takes the rest. A wildcard speaks for what is not named.
 */
export const prefersYaml = (accept: string): boolean => {
  // Most requests name no YAML at all, and JSON without a quality.
  if (!/yaml|json\s*;/i.test(accept)) return false
  const ranges = rangesOf(accept)
  const json = qualityOf(ranges, isJson, "application")
  const yaml = qualityOf(ranges, isYaml, "application")
  const isNamedAlone = ranges.some(({ type }) => isYaml(type)) && !ranges.some(({ type }) => isJson(type))
  return yaml > json || (yaml === json && yaml > 0 && isNamedAlone)
}

/**
 * Whether a client that sends this `Accept` header is to get an answer of this type: it takes the type, or one of JSON and
 * YAML, which says that it is no stranger to a service like this. Who names nothing that is a media type takes anything.
 */
export const admits = (accept: string, mediaType: string): boolean => {
  if (accept === "*/*" || accept === "application/json") return true
  const ranges = rangesOf(accept)
  return (
    ranges.length === 0 ||
    qualityOf(ranges, isJson, "application") > 0 ||
    qualityOf(ranges, isYaml, "application") > 0 ||
    qualityOf(ranges, (type) => type === mediaType, mediaType.split("/", 1)[0]!) > 0
  )
}

/** A member of an `Accept` header. */
interface Range {
  /** In lower case, `*` in the place of anything. */
  readonly type: string
  /** From 0, which refuses, to 1. */
  readonly quality: number
}

const rangesOf = Memo.make(
  (accept: string): ReadonlyArray<Range> =>
    accept.split(",").flatMap((member) => {
      const type = essence(member)
      // Some clients write the one for the other.
      const range = type === "*" ? "*/*" : type
      return /^[^\s/]+\/[^\s/]+$/.test(range) ? [{ type: range, quality: weightOf(member) }] : []
    }),
  128
)

const weightOf = (member: string): number => {
  const match = /;\s*q\s*=\s*(\d(?:\.\d*)?|\.\d+)\s*(?:;|$)/i.exec(member)
  return match === null ? 1 : Math.min(1, Number(match[1]))
}

/** The quality of what is named; where it is not, that of its main type, and then that of everything. */
const qualityOf = (ranges: ReadonlyArray<Range>, isNamed: (type: string) => boolean, mainType: string): number =>
  highest(ranges, isNamed) ??
  highest(ranges, (type) => type === `${mainType}/*`) ??
  highest(ranges, (type) => type === "*/*") ??
  0

const highest = (ranges: ReadonlyArray<Range>, isMeant: (type: string) => boolean): number | undefined => {
  const meant = ranges.filter(({ type }) => isMeant(type))
  return meant.length === 0 ? undefined : Math.max(...meant.map(({ quality }) => quality))
}
