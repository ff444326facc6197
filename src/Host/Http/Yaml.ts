/**
 * YAML on the wire: request bodies read as JSON would be, and JSON answers written as YAML for clients that ask for it.
 *
 * Endpoints know JSON only. A YAML body is turned into JSON before the endpoint reads it, and a JSON answer into YAML
 * after, so that every endpoint, and every error, speaks both.
 */
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import { HttpServerError, RequestParseError } from "effect/http/HttpServerError"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as YAML from "yaml"
import * as MediaType from "./MediaType.ts"

/** A YAML body that does not parse; the message says where. */
export class YamlBodyError extends Error {
  override readonly name = "YamlBodyError"
}

/** Aliases may multiply a document; more than this many are refused as an expansion attack. */
const maxAliasCount = 100

/** The request with its YAML body in the place of a JSON one. */
export const requestAsJson = (request: HttpServerRequest): HttpServerRequest => {
  const text = Effect.flatMap(request.text, (yaml) =>
    Effect.try({
      try: () => toJsonText(yaml),
      catch: (cause) => new HttpServerError({ reason: new RequestParseError({ request, reason: "Parse", cause }) })
    })
  )
  const json = Effect.map(text, (body) => (body === "" ? null : JSON.parse(body)))
  const modified = request.modify({
    headers: Headers.set(request.headers, "content-type", "application/json")
  })
  return Object.defineProperties(modified, {
    text: { get: () => text },
    json: { get: () => json }
  })
}

const toJsonText = (text: string): string => {
  if (text.trim() === "") return ""
  const document = YAML.parseDocument(text, { version: "1.2", merge: true, prettyErrors: true, logLevel: "silent" })
  const error = document.errors[0]
  if (error !== undefined) throw new YamlBodyError(error.message.split("\n", 1)[0]!.replace(/:$/, ""))
  try {
    return JSON.stringify(document.toJS({ maxAliasCount })) ?? ""
  } catch (cause) {
    throw new YamlBodyError(cause instanceof Error ? cause.message : "The document cannot be read")
  }
}

/** A JSON answer as YAML; any other answer as it is. Problem details stay problem details. */
export const responseAsYaml = (
  response: HttpServerResponse.HttpServerResponse
): HttpServerResponse.HttpServerResponse => {
  const mediaType = MediaType.essence(response.headers["content-type"] ?? "")
  if (!MediaType.isJson(mediaType) || response.body._tag !== "Uint8Array") return response
  const body = response.body.text ?? new TextDecoder().decode(response.body.body)
  return HttpServerResponse.setBody(
    response,
    HttpServerResponse.text(YAML.stringify(JSON.parse(body), { aliasDuplicateObjects: false }), {
      contentType: mediaType === "application/problem+json" ? MediaType.problemYaml : MediaType.yaml
    }).body
  )
}
