/** What the host takes from Node: the services that it gives to its plugins and runs on itself, and how it runs. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type { HttpClientError } from "effect/http/HttpClientError"
import * as Layer from "effect/Layer"
import * as HttpClientTelemetry from "./Telemetry/HttpClientTelemetry.ts"

/** An HTTP client with a connection pool of its own. Its hundred modules are loaded when the first request is sent. */
const httpClient = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const built = Layer.buildWithScope(NodeHttpClient.layerUndici, scope)
    const client = yield* Effect.cached(
      Effect.uninterruptible(Effect.map(built, (context) => Context.get(context, HttpClient.HttpClient)))
    )
    return HttpClient.makeWith<never, never, HttpClientError, never>(
      Effect.flatMap((request) => Effect.flatMap(client, ({ execute }) => execute(request))),
      Effect.succeed
    )
  })
)

/** File system, paths, HTTP platform, entity tags, and an HTTP client. */
export const layer = Layer.merge(NodeHttpServer.layerHttpServices, HttpClientTelemetry.layer(httpClient))

/** Runs an effect as the main program of the process: SIGTERM and SIGINT interrupt it. */
export { runMain } from "@effect/platform-node/NodeRuntime"
