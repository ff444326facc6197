/**
 * The OpenAPI document of a whole service: what each plugin's APIs say, merged into one without clashes.
 */
import type * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { Components, firstFree } from "./Components.ts"
import * as HostResponses from "./HostResponses.ts"
import { operationsOf, Paths } from "./Paths.ts"
import { asJsonObject, type JsonObject } from "./References.ts"

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: "3.1.0"
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly servers: ReadonlyArray<{ readonly url: string }>
  readonly tags: ReadonlyArray<JsonObject>
  readonly paths: JsonObject
  readonly components: JsonObject
}

/** What the document is made of. */
export interface Options {
  readonly title: string
  readonly version: string
  readonly description?: string | undefined
  /** In the plugins' order: on a clash of names, the first keeps its own. */
  readonly apis: ReadonlyArray<{ readonly plugin: string; readonly definition: HttpApi.Top }>
}

/**
 * Merges the APIs of all plugins into one document.
 *
 * Operation ids, component schemas and security schemes that clash get the plugin's id as a prefix, and references follow.
 * Every operation also says what the host adds: YAML beside JSON, and its problem responses. An API that cannot be
 * described, and an operation that two plugins have, are errors that name the plugin.
 */
export const merge = ({ apis, description, title, version }: Options): OpenApiDocument => {
  const components = new Components(HostResponses.components)
  const paths = new Paths()
  const operationIds = new Set<string>()
  const tags = new Map<unknown, JsonObject>()
  for (const { definition, plugin } of apis) {
    const prefix = identifierOf(plugin)
    const document = documentOf(plugin, definition)
    const rewrite = components.add(prefix, componentsOf(document))
    for (const tag of asArray(document["tags"]).map(asJsonObject)) {
      tags.set(tag["name"], { ...tag, ...tags.get(tag["name"]) })
    }
    for (const placed of operationsOf(document)) {
      const operation = HostResponses.describe(rewrite(placed.operation))
      const id = String(operation["operationId"] ?? identifierOf(placed.method + placed.path))
      const operationId = operationIds.has(id) ? firstFree(`${prefix}.${id}`, operationIds) : id
      operationIds.add(operationId)
      paths.add(plugin, { ...placed, operation: { summary: summaryOf(id), ...operation, operationId } })
    }
  }
  return {
    openapi: "3.1.0",
    info: { title, version, ...(description !== undefined && { description }) },
    servers: [{ url: "/" }],
    tags: Array.from(tags.values()),
    paths: paths.toJSON(),
    components: components.toJSON()
  }
}

/** The text with nothing in it that the name of a component may not have. */
const identifierOf = (text: string): string => text.replace(/[^A-Za-z0-9._-]+/g, "_")

/** A summary for an operation that has none: `credentials.findById` gives "Find by id". */
const summaryOf = (operationId: string): string => {
  const words = operationId
    .slice(operationId.lastIndexOf(".") + 1)
    .replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

const documentOf = (plugin: string, definition: HttpApi.Top): JsonObject => {
  try {
    return asJsonObject(OpenApi.fromApi(definition))
  } catch (cause) {
    throw new Error(`An API of the plugin ${JSON.stringify(plugin)} cannot be described: ${String(cause)}`, { cause })
  }
}

const componentsOf = ({ components }: JsonObject): JsonObject => {
  const all = asJsonObject(components)
  const schemes = Object.entries(asJsonObject(all["securitySchemes"]))
  return {
    ...all,
    securitySchemes: Object.fromEntries(schemes.map(([name, scheme]) => [name, lowerCaseScheme(scheme)]))
  }
}

/** Effect writes `Bearer`, which viewers take for a scheme unknown to them: OpenAPI's own spelling is `bearer`. */
const lowerCaseScheme = (value: unknown): unknown => {
  const { scheme } = asJsonObject(value)
  return typeof scheme === "string" ? { ...asJsonObject(value), scheme: scheme.toLowerCase() } : value
}

const asArray = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
