/**
 * References inside an OpenAPI document: where they stand, and how to point them elsewhere.
 */

/** An object of a document, as JSON has it. */
export interface JsonObject {
  readonly [key: string]: unknown
}

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value where it is an object, else an empty one: what a plugin's own transformation left may be anything. */
export const asJsonObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})

/** A component by its kind and name, for example `schemas/Order`: a reference to it without `#/components/`. */
export type ComponentKey = `${string}/${string}`

/** Keywords whose members have free names: among them, `default` and `$ref` are names like any other. */
const namedMembers = new Set([
  "$defs",
  "callbacks",
  "content",
  "definitions",
  "dependentSchemas",
  "encoding",
  "headers",
  "links",
  "patternProperties",
  "properties",
  "responses",
  "variables"
])

/** Keywords that hold sample data, which may look like a reference without being one. */
const dataMembers = new Set(["const", "default", "enum", "example", "examples", "value"])

/** A copy of part of a document in which every reference to a component has gone through `rename`. */
export const mapReferences = (value: unknown, rename: (key: ComponentKey) => ComponentKey): unknown => {
  const mapReference = (reference: string): string =>
    reference.replace(/^#\/components\/([^/]+\/[^/]+)/, (_, key: ComponentKey) => `#/components/${rename(key)}`)

  const mapMember = ([key, member]: [string, unknown]): [string, unknown] => {
    if (key === "$ref" && typeof member === "string") return [key, mapReference(member)]
    if (key === "security" && Array.isArray(member)) return [key, member.map(mapRequirement)]
    if (key === "mapping" && isJsonObject(member)) return [key, mapValues(member, mapMapping)]
    if (dataMembers.has(key)) return [key, member]
    return [key, namedMembers.has(key) && isJsonObject(member) ? mapValues(member, map) : map(member)]
  }

  /** A security requirement points at its scheme by the bare name. */
  const mapRequirement = (requirement: unknown): unknown =>
    isJsonObject(requirement)
      ? Object.fromEntries(
          Object.entries(requirement).map(([scheme, scopes]) => [
            rename(`securitySchemes/${scheme}`).slice("securitySchemes/".length),
            scopes
          ])
        )
      : requirement

  const mapMapping = (target: unknown): unknown => (typeof target === "string" ? mapReference(target) : target)

  const map = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(map)
    return isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(mapMember)) : value
  }

  return map(value)
}

const mapValues = (object: JsonObject, f: (value: unknown) => unknown): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, f(value)]))

/** The components that part of a document refers to. */
export const referencesIn = (value: unknown): ReadonlySet<ComponentKey> => {
  const keys = new Set<ComponentKey>()
  mapReferences(value, (key) => {
    keys.add(key)
    return key
  })
  return keys
}
