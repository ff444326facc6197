/** Checked by the compiler alone: what a plugin provides and requires, by each of its parts. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as HealthCheck from "../../src/Plugins/HealthCheck.ts"
import type { HostServices } from "../../src/Plugins/HostServices.ts"
import * as Middleware from "../../src/Plugins/Middleware.ts"
import * as Plugin from "../../src/Plugins/Plugin.ts"
import * as PluginApi from "../../src/Plugins/PluginApi.ts"
import * as Section from "../../src/Plugins/Section.ts"
import * as Task from "../../src/Plugins/Task.ts"
import { same } from "../support/Same.ts"

class A extends Context.Service<A, { readonly a: string }>()("test/A") {}
class B extends Context.Service<B, { readonly b: string }>()("test/B") {}
class Limits extends Section.Service<Limits>()("limits", { max: Schema.Int }) {}

declare const usesA: Effect.Effect<void, never, A>
declare const usesB: Effect.Effect<void, never, B>
declare const usesHost: Effect.Effect<void, never, HostServices>
const ok = HttpServerResponse.text("ok")
const healthy = HealthCheck.healthy()

const plain = Plugin.make({ id: "plain" })
same<typeof plain, Plugin.Plugin<"plain", "app", never, never>>()

const framework = Plugin.make({ id: "layerhost/x" })
same<typeof framework.origin, "framework">()
const thirdParty = Plugin.fromPackage({ name: "x", version: "1.0.0" }, plain)
same<typeof thirdParty, Plugin.Plugin<"plain", "third-party", never, never>>()
const stillFramework = Plugin.fromPackage({ name: "x", version: "1.0.0" }, framework)
same<typeof stillFramework.origin, "framework">()

const services = Plugin.make({ id: "services", services: Layer.effect(A, Effect.as(usesB, { a: "" })) })
same<Plugin.Provides<typeof services>, A>()
same<Plugin.Requires<typeof services>, B>()

const Api = HttpApi.make("api").add(HttpApiGroup.make("group").add(HttpApiEndpoint.get("get", "/")))
const api = Plugin.make({
  id: "api",
  apis: [
    PluginApi.make(
      Api,
      HttpApiBuilder.group(Api, "group", (handlers) => handlers.handle("get", () => usesA))
    )
  ]
})
same<Plugin.Requires<typeof api>, A>()

const routes = Plugin.make({
  id: "routes",
  routes: Layer.mergeAll(
    HttpRouter.add("GET", "/a", Effect.as(usesA, ok)),
    HttpRouter.add("GET", "/request", Effect.as(HttpServerRequest.HttpServerRequest, ok)),
    HttpRouter.use((router) => Effect.andThen(usesB, router.add("GET", "/b", ok)))
  )
})
same<Plugin.Requires<typeof routes>, A | B>()

const middleware = Plugin.make({
  id: "middleware",
  middleware: [
    Middleware.make({ name: "build", build: Effect.as(usesA, (handler) => handler) }),
    Middleware.make({ name: "request", build: Effect.succeed((handler) => Effect.andThen(usesB, handler)) })
  ]
})
same<Plugin.Requires<typeof middleware>, A | B>()

const checks = Plugin.make({
  id: "checks",
  healthChecks: [HealthCheck.make({ name: "a", tags: [], check: Effect.as(usesA, healthy) })]
})
same<Plugin.Requires<typeof checks>, A>()
const chosenChecks = Plugin.make({
  id: "checks",
  healthChecks: Effect.as(usesB, [HealthCheck.make({ name: "a", tags: [], check: Effect.as(usesA, healthy) })])
})
same<Plugin.Requires<typeof chosenChecks>, A | B>()

const tasks = Plugin.make({ id: "tasks", tasks: [Task.make("a", usesA), Task.make("b", usesB)] })
same<Plugin.Requires<typeof tasks>, A | B>()

const own = Plugin.make({
  id: "own",
  config: [Limits],
  services: Layer.effect(
    A,
    Effect.map(Limits, ({ max }) => ({ a: `${max}` }))
  ),
  tasks: [Task.make("a", Effect.andThen(usesA, Limits))]
})
same<Plugin.Requires<typeof own>, never>()

const hosted = Plugin.make({ id: "hosted", services: Layer.effectDiscard(usesHost), tasks: [Task.make("t", usesHost)] })
same<Plugin.Requires<typeof hosted>, never>()

const foreign = Plugin.make({ id: "foreign", tasks: [Task.make("limits", Limits)] })
same<Plugin.Requires<typeof foreign>, Limits>()

const Other = HttpApi.make("other").add(HttpApiGroup.make("empty"))
const OtherHandlers = HttpApiBuilder.group(Other, "empty", (handlers) => handlers)
PluginApi.make(
  Api,
  // @ts-expect-error the handlers of another API
  OtherHandlers
)
Plugin.make({
  id: "typo",
  // @ts-expect-error no part of a plugin
  route: Layer.empty
})
