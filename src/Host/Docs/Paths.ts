/**
 * The paths of a merged OpenAPI document: every operation once, and every path under one spelling of its parameters.
 */
import { asJsonObject, type JsonObject } from "./References.ts"

const methods = new Set(["get", "put", "post", "delete", "options", "head", "patch", "trace"])

/** Where an OpenAPI 3.1 document puts methods that the standard does not name, such as `QUERY`. */
const additionalOperations = "x-oai-additionalOperations"

/** An operation with its place in a document. */
export interface PlacedOperation {
  readonly path: string
  readonly method: string
  readonly operation: JsonObject
}

/** The operations of a document, each with what the document says for the whole path or for all paths. */
export const operationsOf = (document: JsonObject): ReadonlyArray<PlacedOperation> =>
  Object.entries(asJsonObject(document["paths"])).flatMap(([path, pathItem]) => {
    const item = asJsonObject(pathItem)
    return [
      ...Object.entries(item).filter(([key]) => methods.has(key)),
      ...Object.entries(asJsonObject(item[additionalOperations]))
    ].map(([method, operation]) => ({ path, method, operation: inherit(asJsonObject(operation), item, document) }))
  })

const inherit = (operation: JsonObject, item: JsonObject, document: JsonObject): JsonObject => {
  const parameters = parametersOf(operation)
  const shared = parametersOf(item).filter((one) =>
    parameters.every(({ in: place, name }) => place !== one["in"] || name !== one["name"])
  )
  const servers = operation["servers"] ?? item["servers"] ?? document["servers"]
  return {
    ...operation,
    security: operation["security"] ?? document["security"] ?? [],
    ...(servers !== undefined && { servers }),
    parameters: [...shared, ...parameters]
  }
}

const parametersOf = ({ parameters }: JsonObject): ReadonlyArray<JsonObject> =>
  Array.isArray(parameters) ? parameters.map(asJsonObject) : []

/** Collects the operations of several documents. */
export class Paths {
  /** By the path with its parameters' names left out: OpenAPI holds two paths that differ only in these to be one. */
  readonly #byShape = new Map<string, Map<string, PlacedOperation>>()
  readonly #owners = new Map<string, string>()

  add(plugin: string, { method, operation, path }: PlacedOperation): void {
    const shape = path.replace(parameter, "{}")
    const owner = this.#owners.getOrInsert(`${method} ${shape}`, plugin)
    const operations = this.#byShape.getOrInsertComputed(shape, () => new Map())
    if (operations.has(method)) {
      const [first, second] = [owner, plugin].map((id) => JSON.stringify(id))
      throw new Error(`${method.toUpperCase()} ${path} is in the APIs of the plugins ${first} and ${second}`)
    }
    operations.set(method, { method, operation, path })
  }

  /** All path items, by path. */
  toJSON(): JsonObject {
    return Object.fromEntries(
      Array.from(this.#byShape.values(), (placed) => {
        const path = commonPath([...placed.values()].map((each) => each.path))
        const operations = [...placed].map(
          ([method, each]) => [method, renameParameters(each.operation, each.path, path)] as const
        )
        return [path, itemOf(new Map(operations))]
      })
    )
  }
}

const itemOf = (operations: ReadonlyMap<string, JsonObject>): JsonObject => {
  const { additional, standard = [] } = Object.groupBy(operations, ([method]) =>
    methods.has(method) ? "standard" : "additional"
  )
  const item = Object.fromEntries(standard)
  return additional === undefined ? item : { ...item, [additionalOperations]: Object.fromEntries(additional) }
}

const parameter = /\{[^}]*\}/g

/** One path for several that differ in the names of parameters alone: `{bucket}` and `{id}` make `{bucketOrId}`. */
const commonPath = (paths: ReadonlyArray<string>): string => {
  const names = paths.map((path) => path.match(parameter) ?? [])
  let index = 0
  return paths[0]!.replace(parameter, () => {
    const [first, ...others] = new Set(names.map((each) => each[index]!.slice(1, -1)))
    index++
    return `{${[first!, ...others.map((name) => name.charAt(0).toUpperCase() + name.slice(1))].join("Or")}}`
  })
}

const renameParameters = (operation: JsonObject, from: string, to: string): JsonObject => {
  if (from === to) return operation
  const names = to.match(parameter) ?? []
  const renamed = new Map((from.match(parameter) ?? []).map((name, index) => [name, names[index]!.slice(1, -1)]))
  const rename = (one: JsonObject): JsonObject =>
    one["in"] === "path" ? { ...one, name: renamed.get(`{${one["name"]}}`) ?? one["name"] } : one
  return { ...operation, parameters: parametersOf(operation).map(rename) }
}
