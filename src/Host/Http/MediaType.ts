/**
 * Media types: which of JSON and YAML a body is in, and which of them a client would rather have.
 *
 * See RFC 9110, sections 8.3 and 12.5.1 (https://www.rfc-editor.org/rfc/rfc9110), and RFC 9512 for YAML's media type.
 */

/** The type and subtype of a `Content-Type` value, in lower case and without parameters. */
export const essence = (contentType: string): string => contentType.split(";", 1)[0]!.trim().toLowerCase()

const yamlTypes = new Set(["application/yaml", "text/yaml", "application/x-yaml", "text/x-yaml"])

/** Whether a media type is YAML: RFC 9512's, the older names, and any with the suffix `+yaml`. */
export const isYaml = (mediaType: string): boolean => yamlTypes.has(mediaType) || mediaType.endsWith("+yaml")

/** Whether a media type is JSON, or any with the suffix `+json`. */
export const isJson = (mediaType: string): boolean => mediaType === "application/json" || mediaType.endsWith("+json")

/** The YAML type beside a JSON one: `application/problem+yaml` for `application/problem+json`. */
export const yamlOf = (jsonType: string): string => jsonType.replace(/json$/, "yaml")

/**
 * Whether a client that sends this `Accept` header would rather have YAML than JSON: it names YAML, and JSON not with the
 * same or a higher quality. A wildcard speaks for JSON only where it has the higher quality.
 */
export const prefersYaml = (accept: string): boolean => {
  // Most requests name no YAML at all.
  if (!/yaml/i.test(accept)) return false
  const best = { yaml: 0, json: 0, any: 0 }
  for (const range of accept.split(",")) {
    const kind = kindOf(essence(range))
    if (kind !== undefined) best[kind] = Math.max(best[kind], qualityOf(range))
  }
  return best.yaml > best.json && best.yaml >= best.any
}

const kindOf = (range: string): "yaml" | "json" | "any" | undefined =>
  isYaml(range) ? "yaml" : isJson(range) ? "json" : range === "*/*" || range === "application/*" ? "any" : undefined

const qualityOf = (range: string): number => {
  const match = /;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*(?:;|$)/i.exec(range)
  return match === null ? 1 : Math.min(1, Number(match[1]))
}
