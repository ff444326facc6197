/** The Node services that the host gives to its plugins, and runs on itself. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Layer from "effect/Layer"

/** File system, paths, HTTP platform, entity tags, and an HTTP client with a connection pool of its own. */
export const layer = Layer.merge(NodeHttpServer.layerHttpServices, NodeHttpClient.layerUndici)
