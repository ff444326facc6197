/**
 * The routes of the documentation: the OpenAPI document as JSON and as YAML, and a page that shows it.
 */
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { createHash } from "node:crypto"
import type { Options } from "./OpenApiDocument.ts"

/**
 * Makes `GET /openapi.json`, `GET /openapi.yaml` and `GET /docs`.
 *
 * Each is loaded and computed once, when it is first asked for, so that a host whose documentation nobody reads pays nothing for it.
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<ReadonlyArray<HttpRouter.Route<never, never>>> {
  const document = yield* Effect.cached(
    Effect.promise(() => import("./OpenApiDocument.ts").then(({ merge }) => merge(options)))
  )

  const json = Effect.map(document, (document) => HttpServerResponse.jsonUnsafe(document))

  const yaml = Effect.gen(function* () {
    const YAML = yield* Effect.promise(() => import("yaml"))
    return HttpServerResponse.text(YAML.stringify(yield* document, { aliasDuplicateObjects: false }), {
      contentType: "application/yaml"
    })
  })

  const page = Effect.gen(function* () {
    const { render } = yield* Effect.promise(() => import("./DocsPage.ts"))
    const { contentSecurityPolicy, html } = yield* render(yield* document)
    return HttpServerResponse.text(html, {
      contentType: "text/html; charset=utf-8",
      headers: { "content-security-policy": contentSecurityPolicy, "x-content-type-options": "nosniff" }
    })
  })

  return [
    yield* unchanging("/openapi.json", json),
    yield* unchanging("/openapi.yaml", yaml),
    yield* unchanging("/docs", page)
  ]
})

/** A route whose answer is made once; by its tag, the host spares a client that has it from reading it again. */
const unchanging = Effect.fnUntraced(function* (
  path: `/${string}`,
  make: Effect.Effect<HttpServerResponse.HttpServerResponse>
) {
  const answer = yield* Effect.cached(Effect.map(make, withEtag))
  return HttpRouter.route("GET", path, answer)
})

/** A weak tag, since the host may yet write the answer as YAML or compress it. */
const withEtag = (response: HttpServerResponse.HttpServerResponse) => {
  const content = response.body._tag === "Uint8Array" ? response.body.body : ""
  const etag = `W/"${createHash("sha256").update(content).digest("base64url")}"`
  return HttpServerResponse.setHeaders(response, { etag, "cache-control": "no-cache" })
}
