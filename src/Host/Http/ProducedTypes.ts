/**
 * The media types that the endpoints of an API answer with.
 */
import type * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { operationsOf } from "../Docs/Paths.ts"
import { asJsonObject } from "../Docs/References.ts"
import * as RouteTemplate from "../Telemetry/RouteTemplate.ts"

/** The types of an endpoint's successes; empty where it answers without a body, or that is not known. */
export type ProducedTypes = (method: string, path: string) => ReadonlyArray<string>

/** Finds the types in the description of an API, which is made when they are first asked for. */
export const make = (definition: HttpApi.Top): ProducedTypes => {
  let known: ReadonlyMap<string, ReadonlyArray<string>> | undefined
  return (method, path) => {
    known ??= typesOf(definition)
    return known.get(`${method.toLowerCase()} ${RouteTemplate.fromPath(path)}`) ?? []
  }
}

const typesOf = (definition: HttpApi.Top): ReadonlyMap<string, ReadonlyArray<string>> =>
  new Map(
    operationsOf(describe(definition)).map(({ method, operation, path }) => [
      `${method.toLowerCase()} ${path}`,
      Object.entries(asJsonObject(operation["responses"])).flatMap(([status, response]) =>
        status.startsWith("2") ? Object.keys(asJsonObject(asJsonObject(response)["content"])) : []
      )
    ])
  )

/** An API that cannot be described is an error of its documentation, not of a request. */
const describe = (definition: HttpApi.Top) => {
  try {
    return asJsonObject(OpenApi.fromApi(definition))
  } catch {
    return {}
  }
}
