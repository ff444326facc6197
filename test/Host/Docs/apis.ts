import type * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApiDocument from "../../../src/Host/Docs/OpenApiDocument.ts"

/** The merged document of a few plugins, each with one API. */
export const mergeOf = (apis: ReadonlyArray<readonly [plugin: string, definition: unknown]>): any =>
  OpenApiDocument.merge(optionsOf(apis))

export const optionsOf = (
  apis: ReadonlyArray<readonly [plugin: string, definition: unknown]>
): OpenApiDocument.Options => ({
  title: "Test",
  version: "1.2.3",
  apis: apis.map(([plugin, definition]) => ({ plugin, definition: definition as HttpApi.Top }))
})
