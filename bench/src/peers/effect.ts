/** Effect's HttpApi on its own runtime, without any middleware. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import "effect/schema/SchemaJITCompiler/enable"
import { createServer } from "node:http"
import * as EffectService from "./effectService.ts"
import { health, port } from "./service.ts"

const { api, handlers } = EffectService.make("bench")

const routes = Layer.mergeAll(
  HttpApiBuilder.layer(api.annotate(HttpApi.ParseOptions, { errors: "all" })).pipe(Layer.provide(handlers)),
  HttpRouter.add(
    "GET",
    "/health/dependencies",
    Effect.map(Effect.promise(health), (report) => HttpServerResponse.jsonUnsafe(report))
  )
)

HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
  Layer.provide(NodeHttpServer.layer(createServer, { port, host: "127.0.0.1" })),
  Layer.launch,
  NodeRuntime.runMain
)
