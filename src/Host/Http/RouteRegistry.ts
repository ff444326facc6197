/**
 * Every route of a host with the plugin that brought it.
 *
 * Plugins add routes through a router of their own, which notes each one here before it goes to the host's router. So two
 * plugins that claim one route are found at start, and a request to a path that exists in other methods can be told so.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as FindMyWay from "effect/http/FindMyWay"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { apiRoute, rawRoute } from "./Route.ts"

/** A route and whose it is. */
export interface RegisteredRoute {
  readonly plugin: string
  readonly method: string
  readonly path: string
}

/** Two plugins, or one twice, that claim the same method and path. */
export interface RouteClash {
  readonly route: RegisteredRoute
  readonly existing: RegisteredRoute
}

/** The routes of all plugins, in the order of their registration. */
export class RouteRegistry {
  readonly #router: HttpRouter.HttpRouter
  readonly #byPath = new Map<string, Map<string, RegisteredRoute>>()
  readonly clashes: Array<RouteClash> = []

  constructor(router: HttpRouter.HttpRouter) {
    this.#router = router
  }

  /** The router for a plugin's raw routes; their handlers see the services in `context`. */
  rawRouter(plugin: string, context: Context.Context<never>): HttpRouter.HttpRouter {
    return this.#routerFor(plugin, (route) => rawRoute(route, plugin, context))
  }

  /** The router for the routes of a plugin's API. */
  apiRouter(plugin: string, definition: HttpApi.Top): HttpRouter.HttpRouter {
    const endpoints = new Map<string, HttpApiEndpoint.Top>()
    for (const group of Object.values(definition.groups)) {
      for (const endpoint of Object.values(group.endpoints)) {
        endpoints.set(`${endpoint.method} ${endpoint.path}`, endpoint)
      }
    }
    return this.#routerFor(plugin, (route) => apiRoute(route, plugin, endpoints.get(`${route.method} ${route.path}`)))
  }

  /** All routes. */
  get routes(): ReadonlyArray<RegisteredRoute> {
    return [...this.#byPath.values()].flatMap((methods) => [...methods.values()])
  }

  /** A table that tells which methods the path of a request has; empty where the path does not exist. */
  methodTable(): (url: string) => ReadonlyArray<string> {
    const table = FindMyWay.make<ReadonlyArray<string>>()
    for (const [path, methods] of this.#byPath) {
      const names = [...methods.keys()]
      table.on(
        "GET",
        path as HttpRouter.PathInput,
        names.includes("GET") ? [...names, "HEAD"].toSorted() : names.toSorted()
      )
    }
    return (url) => table.find("GET", url)?.handler ?? []
  }

  #routerFor(
    plugin: string,
    prepare: (route: HttpRouter.Route<any, any>) => HttpRouter.Route<any, any>
  ): HttpRouter.HttpRouter {
    const router = this.#router
    const addAll = (routes: ReadonlyArray<HttpRouter.Route<any, any>>): Effect.Effect<void> =>
      Effect.suspend(
        () => router.addAll(routes.filter((route) => this.#claim(plugin, route)).map(prepare)) as Effect.Effect<void>
      )
    const make = (prefix: string): HttpRouter.HttpRouter =>
      HttpRouter.HttpRouter.of({
        ...router,
        prefixed: (inner: string) => make(prefix + inner),
        add: (method, path, handler, options) =>
          addAll(withPrefix([HttpRouter.route(method, path, asEffect(handler), options)], prefix)),
        addAll: (routes) => addAll(withPrefix(routes, prefix))
      } as HttpRouter.HttpRouter)
    return make("")
  }

  /** Notes a route as the plugin's; false, with the clash noted, where it is taken. */
  #claim(plugin: string, route: HttpRouter.Route<any, any>): boolean {
    const shape = shapeOf(route.path)
    const methods = this.#byPath.get(shape) ?? new Map<string, RegisteredRoute>()
    this.#byPath.set(shape, methods)
    const registered: RegisteredRoute = { plugin, method: route.method, path: route.path }
    const existing =
      methods.get(route.method) ?? methods.get("*") ?? (route.method === "*" ? [...methods.values()][0] : undefined)
    if (existing !== undefined) {
      this.clashes.push({ route: registered, existing })
      return false
    }
    methods.set(route.method, registered)
    return true
  }
}

/** Paths that match the same requests have the same shape: the names of parameters make no difference. */
const shapeOf = (path: string): string => {
  let index = 0
  return path.replace(/(?<!:):(\w+)/g, () => `:p${index++}`)
}

const asEffect = (
  handler:
    | HttpServerResponse.HttpServerResponse
    | Effect.Effect<HttpServerResponse.HttpServerResponse, any, any>
    | ((request: HttpServerRequest.HttpServerRequest) => Effect.Effect<HttpServerResponse.HttpServerResponse, any, any>)
): Effect.Effect<HttpServerResponse.HttpServerResponse, any, any> =>
  HttpServerResponse.isHttpServerResponse(handler)
    ? Effect.succeed(handler)
    : Effect.isEffect(handler)
      ? handler
      : Effect.flatMap(HttpServerRequest.HttpServerRequest, handler)

const withPrefix = (
  routes: ReadonlyArray<HttpRouter.Route<any, any>>,
  prefix: string
): ReadonlyArray<HttpRouter.Route<any, any>> => (prefix === "" ? routes : routes.map(HttpRouter.prefixRoute(prefix)))
