/** What the host takes from Node: the services that it gives to its plugins and runs on itself, and how it runs. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Layer from "effect/Layer"
import * as HttpClientTelemetry from "./Telemetry/HttpClientTelemetry.ts"

/** File system, paths, HTTP platform, entity tags, and an HTTP client with a connection pool of its own. */
export const layer = Layer.merge(
  NodeHttpServer.layerHttpServices,
  HttpClientTelemetry.layer(NodeHttpClient.layerUndici)
)

/** Runs an effect as the main program of the process: SIGTERM and SIGINT interrupt it. */
export { runMain } from "@effect/platform-node/NodeRuntime"
