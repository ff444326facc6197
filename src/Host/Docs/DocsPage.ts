/**
 * The page that shows the OpenAPI document: Scalar's reference, whole in one answer, which needs no network.
 */
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiScalar from "effect/http-api/HttpApiScalar"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type { Scope } from "effect/Scope"
import { createHash } from "node:crypto"
import type { OpenApiDocument } from "./OpenApiDocument.ts"

/** A page with the policy that lets it do what it needs and nothing else. */
export interface DocsPage {
  readonly html: string
  readonly contentSecurityPolicy: string
}

/** Leaves out whatever of Scalar reaches for its makers' servers; not all of these options are in Effect's types. */
const scalar: HttpApiScalar.ScalarConfig & { readonly [option: string]: unknown } = {
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  // Without one, a browser asks for /favicon.ico.
  favicon: "data:,"
}

/**
 * Renders the page. The script in it has 3 MB: Effect loads it here, not before.
 */
export const render = Effect.fnUntraced(function* ({
  servers: _servers, // Without them, Scalar takes the page's own origin; with them, it shows paths as `//orders`.
  ...document
}: OpenApiDocument): Effect.fn.Return<DocsPage, never, Scope> {
  // Effect's page is made from an API; this one is empty and says that it is described by the document.
  const api = HttpApi.make("docs").annotate(OpenApi.Transform, () => document)
  const handler = yield* HttpRouter.toHttpEffect(HttpApiScalar.layer(api, { path: "/docs", scalar }))
  const { body } = yield* handler.pipe(
    Effect.provideService(
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request("http://localhost/docs"))
    ),
    Effect.orDie
  )
  const html = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""
  return { html, contentSecurityPolicy: policyFor(html) }
}, Effect.scoped)

/** The page's own scripts run, no other; and it talks to the service that it came from, no other. */
const policyFor = (html: string): string =>
  [
    "default-src 'none'",
    `script-src ${scriptsOf(html).map(sourceHash).join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

const scriptsOf = (html: string): ReadonlyArray<string> =>
  Array.from(html.matchAll(/<script[^>]*>(.*?)<\/script>/gis), ([, script]) => script!)

const sourceHash = (script: string): string => `'sha256-${createHash("sha256").update(script).digest("base64")}'`
