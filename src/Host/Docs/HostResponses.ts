/**
 * What the host adds to every operation of a plugin: YAML beside JSON, and errors as problems.
 */
import { isDeepStrictEqual } from "node:util"
import { asJsonObject, isJsonObject, type JsonObject } from "./References.ts"

const problemSchema = {
  type: "object",
  description: "Problem details (RFC 9457): what every error answer of the service looks like.",
  properties: {
    type: {
      type: "string",
      description: "A URI that identifies the kind of problem; `about:blank` when the status says it all."
    },
    title: { type: "string", description: "The kind of problem in a few words." },
    status: { type: "integer", description: "The HTTP status." },
    detail: { type: "string", description: "What went wrong this time." },
    instance: { type: "string", description: "A URI that identifies this occurrence." },
    timestamp: { type: "string", format: "date-time", description: "When it happened, in UTC." },
    requestId: { type: "string", description: "The request's id, as in `X-Request-Id` and in the service's log." },
    validationErrors: {
      type: "array",
      description: "Every invalid field of the path, the query, the headers and the body.",
      items: {
        type: "object",
        properties: {
          field: { type: "string", description: "The field's path, joined by dots." },
          validationMessage: { type: "string", description: "What was expected of it." }
        },
        required: ["field", "validationMessage"]
      }
    }
  },
  required: ["type", "title", "status", "timestamp", "requestId"]
}

const problemMediaType = { schema: { $ref: "#/components/schemas/Problem" } }
const problemContent = { "application/problem+json": problemMediaType, "application/problem+yaml": problemMediaType }

/** The components that the added responses refer to. */
export const components: JsonObject = {
  schemas: { Problem: problemSchema },
  responses: {
    Problem: { description: "The request failed.", content: problemContent },
    InvalidRequest: { description: "The request is invalid.", content: problemContent }
  }
}

const yamlOf = new Map([
  ["application/json", "application/yaml"],
  ["application/problem+json", "application/problem+yaml"]
])

/** An operation as the host serves it. */
export const describe = (operation: JsonObject): JsonObject => {
  const responses = new Map(
    Object.entries(asJsonObject(operation["responses"])).map(([status, response]) => [
      status,
      withContent(response, (content) =>
        content === undefined && isError(status) ? problemContent : withYaml(content)
      )
    ])
  )
  if (hasInput(operation)) responses.set("400", withInvalidRequest(responses.get("400")))
  if (!responses.has("default")) responses.set("default", { $ref: "#/components/responses/Problem" })
  return {
    ...operation,
    ...("requestBody" in operation && { requestBody: withContent(operation["requestBody"], withYaml) }),
    responses: Object.fromEntries(responses)
  }
}

/** The host completes an error without a body to a problem. */
const isError = (status: string): boolean => /^[45]/.test(status)

const hasInput = ({ parameters, requestBody }: JsonObject): boolean =>
  requestBody !== undefined || (Array.isArray(parameters) && parameters.length > 0)

const withInvalidRequest = (response: unknown): unknown =>
  response === undefined
    ? { $ref: "#/components/responses/InvalidRequest" }
    : withContent(response, (content = {}) => ({
        ...content,
        ...Object.fromEntries(
          Object.entries(problemContent).map(([name, problem]) => [name, either(content[name], problem)])
        )
      }))

/** Both media types' schemas, where the plugin documents its own. */
const either = (own: unknown, problem: { readonly schema: unknown }): unknown =>
  !isJsonObject(own) || isDeepStrictEqual(own["schema"], problem.schema)
    ? problem
    : { ...own, schema: { anyOf: [own["schema"], problem.schema] } }

const withYaml = (content: JsonObject | undefined): JsonObject | undefined =>
  content &&
  Object.fromEntries(
    Object.entries(content).flatMap(([name, mediaType]) => {
      const yaml = yamlOf.get(name)
      // A stream goes out as it comes, whatever the client accepts.
      return yaml === undefined || yaml in content || "x-effect-stream" in asJsonObject(mediaType)
        ? [[name, mediaType]]
        : [
            [name, mediaType],
            [yaml, mediaType]
          ]
    })
  )

/** A response or a request body with its content changed; a reference stays as it is. */
const withContent = (body: unknown, change: (content: JsonObject | undefined) => JsonObject | undefined): unknown => {
  if (!isJsonObject(body) || "$ref" in body) return body
  const content = change(isJsonObject(body["content"]) ? body["content"] : undefined)
  return content === undefined ? body : { ...body, content }
}
