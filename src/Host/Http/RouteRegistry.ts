/**
 * Every route of a host with the plugin that brought it.
 *
 * Plugins add routes through a router of their own, which notes each one here before it goes to the host's router. So two
 * plugins that claim one route are found at start, and a request to a path that exists in other methods can be told so.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import { identity } from "effect/Function"
import * as FindMyWay from "effect/http/FindMyWay"
import * as HttpRouter from "effect/http/HttpRouter"
import * as RouteTemplate from "../Telemetry/RouteTemplate.ts"
import * as ProducedTypes from "./ProducedTypes.ts"
import { apiRoute, type Compile, type Handler, type PreparedRoute, rawRoute } from "./Route.ts"
import type { AnnotatedEndpoint } from "./Validation.ts"

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

type AnyRoute = HttpRouter.Route<any, any>

/** What is found for a method and a path. */
export interface TableEntry extends PreparedRoute {
  readonly plugin: string
  /** The path as logs and metrics name it. */
  readonly template: string
  readonly takesAllMethods: boolean
}

/** A route with what of the request belongs to it. */
export interface FoundRoute {
  readonly handler: TableEntry
  readonly params: Readonly<Record<string, string>>
  readonly searchParams: Readonly<Record<string, string | Array<string>>>
}

/** Finds the route that a request comes to, as the host's router does; absent where there is none. */
export type FindRoute = (method: string, url: string) => FoundRoute | undefined

/** The routes of all plugins, in the order of their registration. */
export class RouteRegistry {
  readonly routes: Array<RegisteredRoute> = []
  readonly clashes: Array<RouteClash> = []
  readonly #router: HttpRouter.HttpRouter
  readonly #byPattern = new Map<string, Map<string, RegisteredRoute>>()
  readonly #table = FindMyWay.make<TableEntry>()
  readonly #methods = new Set<string>()

  constructor(router: HttpRouter.HttpRouter) {
    this.#router = router
  }

  /** The router for a plugin's raw routes; their handlers run in the context that `within` makes, and get `around` them. */
  rawRouter(
    plugin: string,
    within: (context: Context.Context<never>) => Context.Context<never> = identity,
    around: (handler: Handler) => Handler = identity
  ): HttpRouter.HttpRouter {
    return this.#routerFor(plugin, (route) => ({ route: rawRoute(route, plugin, within, around), endpoint: undefined }))
  }

  /** The router for the routes of a plugin's API, whose handlers are compiled where they can be, and get `around` them. */
  apiRouter(
    plugin: string,
    definition: HttpApi.Top,
    around: (handler: Handler) => Handler = identity,
    compile: Compile = () => undefined
  ): HttpRouter.HttpRouter {
    const endpoints = new Map<string, AnnotatedEndpoint>()
    for (const group of Object.values(definition.groups)) {
      for (const endpoint of Object.values(group.endpoints)) {
        const annotations = Context.mergeAll(definition.annotations, group.annotations, endpoint.annotations)
        endpoints.set(`${endpoint.method} ${endpoint.path}`, { endpoint, annotations })
      }
    }
    const producedTypes = ProducedTypes.make(definition)
    return this.#routerFor(plugin, (route) => {
      const endpoint = endpoints.get(`${route.method} ${route.path}`)
      return apiRoute(route, plugin, endpoint, producedTypes, around, compile)
    })
  }

  /**
   * A table that tells which methods the path of a request has; empty where the path does not exist. `HEAD` comes with `GET`,
   * and `OPTIONS` with every path.
   */
  methodTable(): (url: string) => ReadonlyArray<string> {
    return (url) => {
      // A route for all methods never lacks the one that is asked for.
      const methods = [...this.#methods].filter(
        (method) => this.#table.find(method, url)?.handler.takesAllMethods === false
      )
      if (methods.length === 0) return []
      return [...new Set([...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"])].toSorted()
    }
  }

  /** A table that tells the template of the route that a request would come to; absent where there is none. */
  templateTable(): (method: string, url: string) => string | undefined {
    const find = (method: string, url: string) => this.#table.find(method, url)?.handler.template
    return (method, url) => find(method, url) ?? (method === "HEAD" ? find("GET", url) : undefined)
  }

  /** The routes by method and path. */
  table(): FindRoute {
    return (method, url) => this.#table.find(method, url) as FoundRoute | undefined
  }

  #routerFor(plugin: string, prepare: (route: AnyRoute) => PreparedRoute): HttpRouter.HttpRouter {
    const router = this.#router
    const addAll = (routes: ReadonlyArray<AnyRoute>): Effect.Effect<void> =>
      Effect.suspend(
        () => router.addAll(routes.flatMap((route) => this.#claim(plugin, route, prepare))) as Effect.Effect<void>
      )
    const withPrefix = (prefix: string): HttpRouter.HttpRouter => {
      const prefixed = (routes: ReadonlyArray<AnyRoute>) =>
        prefix === "" ? routes : routes.map(HttpRouter.prefixRoute(prefix))
      return HttpRouter.HttpRouter.of({
        ...router,
        prefixed: (inner: string) => withPrefix(HttpRouter.prefixPath(inner, prefix)),
        add: (method, path, handler, options) => addAll(prefixed([HttpRouter.route(method, path, handler, options)])),
        addAll: (routes) => addAll(prefixed(routes))
      } as HttpRouter.HttpRouter)
    }
    return withPrefix("")
  }

  /** Notes a route as the plugin's, and gives it prepared; nothing, with the clash noted, where it is taken. */
  #claim(plugin: string, route: AnyRoute, prepare: (route: AnyRoute) => PreparedRoute): ReadonlyArray<AnyRoute> {
    const registered: RegisteredRoute = { plugin, method: route.method, path: route.path }
    const paths = pathsOf(route.path)
    for (const path of paths) {
      const others = this.#byPattern.get(patternOf(path))
      const existing =
        others?.get(route.method) ??
        others?.get("*") ??
        (route.method === "*" ? others?.values().next().value : undefined)
      if (existing === undefined) continue
      this.clashes.push({ route: registered, existing })
      return []
    }
    const prepared = prepare(route)
    for (const path of paths) {
      const pattern = patternOf(path)
      const methods = this.#byPattern.get(pattern) ?? new Map<string, RegisteredRoute>()
      this.#byPattern.set(pattern, methods.set(route.method, registered))
      const takesAllMethods = route.method === "*"
      const entry: TableEntry = { plugin, template: RouteTemplate.fromPath(route.path), takesAllMethods, ...prepared }
      if (entry.takesAllMethods) {
        this.#table.all(path, entry)
      } else {
        this.#table.on(route.method, path, entry)
        this.#methods.add(route.method)
      }
    }
    this.routes.push(registered)
    return [prepared.route]
  }
}

/** The paths that a route stands for: the router serves `/files/*` at `/files` too, and `/files/:id?` without the id. */
const pathsOf = (path: string): ReadonlyArray<HttpRouter.PathInput> => {
  const optional = /^(.*)(\/:[^/()]*)\?\/?$/.exec(path)
  const paths = path.endsWith("/*")
    ? [path, path.slice(0, -2)]
    : optional === null
      ? [path]
      : [optional[1]! + optional[2]!, optional[1]!]
  return paths.map((each) => (each === "" ? "/" : (each as HttpRouter.PathInput)))
}

/** What the router tells two paths apart by: neither case, nor slashes that are too many, nor the names of parameters. */
const patternOf = (path: string): string =>
  path
    .replace(/(?<!:):\w+/g, ":")
    .replace(/\/{2,}/g, "/")
    .replace(/(?<=.)\/$/, "")
    .toLowerCase()
