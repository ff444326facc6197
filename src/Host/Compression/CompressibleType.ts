/**
 * Media types that compress well: text in all its forms. Images, sound, video and archives are compressed already.
 */
import * as MediaType from "../Http/MediaType.ts"

const types = new Set([
  "application/ecmascript",
  "application/graphql",
  "application/javascript",
  "application/json",
  "application/json-seq",
  "application/jsonl",
  "application/ld+json",
  "application/ndjson",
  "application/openmetrics-text",
  "application/rtf",
  "application/sql",
  "application/toml",
  "application/wasm",
  "application/x-javascript",
  "application/x-ndjson",
  "application/x-www-form-urlencoded",
  "application/x-yaml",
  "application/xml",
  "application/yaml",
  "font/otf",
  "font/ttf",
  "image/bmp",
  "image/vnd.microsoft.icon",
  "image/x-icon"
])

/** Whether the content of a `Content-Type` is worth compressing. */
export const isCompressible = (contentType: string): boolean => {
  const type = MediaType.essence(contentType)
  return types.has(type) || type.startsWith("text/") || /\+(?:json|xml|yaml|json-seq)$/.test(type)
}
