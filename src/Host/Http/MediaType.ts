/**
 * Media types: which of JSON and YAML a body is in, and which of them a client would rather have.
 *
 * See RFC 9110, sections 8.3 and 12.5.1 (https://www.rfc-editor.org/rfc/rfc9110), and RFC 9512 for YAML's media type.
 */

/** The type and subtype of a `Content-Type` value, in lower case and without parameters. */
export const essence = (contentType: string): string => contentType.split(";", 1)[0]!.trim().toLowerCase()

/** The type of YAML bodies that the host writes. */
export const yaml = "application/yaml"

/** The type of problem details in YAML. */
export const problemYaml = "application/problem+yaml"

const yamlTypes = new Set([yaml, "text/yaml", "application/x-yaml", "text/x-yaml"])

/** Whether a media type is YAML: RFC 9512's, the older names, and any with the suffix `+yaml`. */
export const isYaml = (mediaType: string): boolean => yamlTypes.has(mediaType) || mediaType.endsWith("+yaml")

/** Whether a media type is JSON, or any with the suffix `+json`. */
export const isJson = (mediaType: string): boolean => mediaType === "application/json" || mediaType.endsWith("+json")

/** Whether a client that sends this `Accept` header would rather have YAML than JSON. */
export const prefersYaml = (accept: string): boolean => {
  // Most requests name no YAML at all.
  if (!accept.toLowerCase().includes("yaml")) return false
  let yamlQuality = 0
  let jsonQuality = 0
  for (const range of accept.split(",")) {
    const mediaType = essence(range)
    const quality = qualityOf(range)
    if (isYaml(mediaType)) yamlQuality = Math.max(yamlQuality, quality)
    else if (isJson(mediaType)) jsonQuality = Math.max(jsonQuality, quality)
  }
  return yamlQuality > jsonQuality
}

const qualityOf = (range: string): number => {
  const match = /;\s*q\s*=\s*([01](?:\.\d{0,3})?)/i.exec(range)
  return match === null ? 1 : Number(match[1])
}
