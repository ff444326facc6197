/**
 * The JSON Schema of configuration files, by which editors complete `appsettings.yaml` and mark what is wrong in it.
 *
 * It takes whatever the host takes from a file: numbers and booleans also as texts, names in any case, null for what is not
 * set. No key is required, since another source may set it, and none is refused, since case does not matter.
 */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { type OwnedSection, textCodec } from "./Decode.ts"
import * as Defaults from "./Defaults.ts"
import { describe, shapeOf } from "./SchemaShape.ts"

/** A JSON Schema, or a part of one. */
export type JsonSchema = { readonly [key: string]: unknown }

/** The schema of a file that holds any of the sections, in draft 2020-12. */
export const make = (sections: ReadonlyArray<OwnedSection>): JsonSchema => {
  const definitions: Record<string, JsonSchema> = {}
  const root: Parts = { properties: {} }
  for (const { owner, section } of sections) {
    const { definitions: own, schema } = Schema.toJsonSchemaDocument(section.schema)
    const rename = (json: unknown): JsonSchema => prefixReferences(json, section.path) as JsonSchema
    for (const [name, json] of Object.entries(own)) definitions[`${section.path}.${name}`] = loosen(rename(json))
    const described = withDefaults(describeKeys(textCodec(section).ast, rename(schema)), Defaults.of(section))
    insert(root, section.path.split(":"), { description: `The section of plugin ${owner}.`, ...described })
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of the service",
    type: ["object", "null"],
    properties: root.properties,
    ...(Object.keys(definitions).length > 0 ? { $defs: definitions } : {})
  }
}

interface Parts {
  properties: Record<string, JsonSchema>
}

/** Puts a section's schema at its path; sections may stand below each other. */
const insert = (at: Parts, [name, ...rest]: ReadonlyArray<string>, schema: JsonSchema): void => {
  const known = at.properties[name!] as (JsonSchema & Partial<Parts>) | undefined
  const merged = rest.length === 0 ? schema : (known ?? { type: ["object", "null"] })
  const child = { ...merged, properties: { ...known?.properties, ...(merged as Partial<Parts>).properties } }
  at.properties[name!] = child
  if (rest.length > 0) insert(child, rest, schema)
}

const prefixReferences = (json: unknown, prefix: string): unknown => {
  if (Array.isArray(json)) return json.map((each) => prefixReferences(each, prefix))
  if (typeof json !== "object" || json === null) return json
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => [
      key,
      key === "$ref" ? String(value).replace("#/$defs/", `#/$defs/${prefix}.`) : prefixReferences(value, prefix)
    ])
  )
}

/** Loosens a schema, and adds what the section's own Schema says of each key. */
const describeKeys = (ast: SchemaAST.AST, json: JsonSchema): JsonSchema => {
  const [object] = shapeOf([ast]).objects
  if (!isSchema(json["properties"]) || object === undefined) return loosen(json)
  const properties = mapValues(json["properties"], (property, name) => {
    const type = object.propertySignatures.find((each) => String(each.name) === name)?.type
    if (type === undefined) return loosen(property as JsonSchema)
    const description = describe([type])
    return {
      ...describeKeys(type, property as JsonSchema),
      ...(description === undefined ? {} : { description }),
      ...(shapeOf([type]).secret ? { writeOnly: true } : {})
    }
  })
  return { ...loosen(json), properties }
}

const mentions = (json: JsonSchema, type: string): boolean =>
  json["type"] === type || (isSchemas(json["anyOf"]) && json["anyOf"].some((each) => mentions(each, type)))

const withDefaults = (json: JsonSchema, defaults: ReadonlyMap<string, Schema.StringTree>): JsonSchema => ({
  ...json,
  properties: mapValues((json["properties"] ?? {}) as JsonSchema, (property, name) => {
    const value = defaults.get(name)
    return value === undefined
      ? property
      : { ...(property as JsonSchema), default: revive(value, property as JsonSchema) }
  })
})

/** The text of a default as the number or boolean that people write. */
const revive = (value: Schema.StringTree, json: JsonSchema): unknown => {
  if (typeof value !== "string") return value
  if (mentions(json, "boolean")) return value === "true"
  return mentions(json, "integer") || mentions(json, "number") ? Number(value) : value
}

const nothing = { type: "null" }

/** Lets a schema take every form in which a file may hold the value. */
const loosen = (json: JsonSchema): JsonSchema => {
  const { additionalProperties, allOf, anyOf, description, items, oneOf, required: _required, ...rest } = json
  const described = description === undefined ? {} : { description }
  const any = (...members: ReadonlyArray<JsonSchema>) => ({ ...described, anyOf: [...members, nothing] })
  const union = anyOf ?? oneOf
  if (Array.isArray(union)) return any(...union.map(loosen))
  const checks = isSchemas(allOf) && allOf.some((each) => Object.keys(each).join() !== "description") ? { allOf } : {}
  const exact = { ...rest, ...checks }
  switch (rest["type"]) {
    case "integer":
    case "number":
      return any(exact, { type: "string", pattern: numberPattern })
    case "boolean":
      return any(exact, { type: "string", pattern: anyCase(["true", "false"]) })
    case "string":
      return Array.isArray(rest["enum"])
        ? any(exact, { type: "string", pattern: anyCase(rest["enum"]) })
        : { ...exact, ...described, type: ["string", "number", "boolean", "null"] }
    case "array":
      return { ...exact, ...described, type: ["array", "null"], items: isSchema(items) ? loosen(items) : {} }
    case "object":
      return {
        ...exact,
        ...described,
        type: ["object", "null"],
        ...loosenKeys(rest["properties"], additionalProperties)
      }
    default:
      return json
  }
}

const loosenKeys = (properties: unknown, others: unknown): JsonSchema => ({
  ...(isSchema(properties) ? { properties: mapValues(properties, (json) => loosen(json as JsonSchema)) } : {}),
  // Where any name may stand, it may also be written as names within names.
  ...(isSchema(others) ? { additionalProperties: { anyOf: [loosen(others), { type: "object" }] } } : {})
})

const mapValues = (object: object, change: (value: unknown, name: string) => unknown): JsonSchema =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]))

const isSchema = (json: unknown): json is JsonSchema => typeof json === "object" && json !== null

const isSchemas = (json: unknown): json is ReadonlyArray<JsonSchema> => Array.isArray(json)

const numberPattern = "^[+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?$"

/** Matches the names in any case; the dialect has no flag for that. */
const anyCase = (names: ReadonlyArray<string>): string =>
  `^(?:${names.map((name) => name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replaceAll(/[a-z]/gi, eitherCase)).join("|")})$`

const eitherCase = (letter: string): string => `[${letter.toUpperCase()}${letter.toLowerCase()}]`
