/**
 * An HTTP client with certificates of its own, and so with connections of its own.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Tls } from "./SecretServerOptions.ts"

/** The client that trusts the given authorities and shows the given certificate. */
export const layerTls = ({ key, ...certificates }: Tls): Layer.Layer<HttpClient.HttpClient> =>
  NodeHttpClient.layerUndiciOptions({
    connect: { ...certificates, ...(key !== undefined && { key: Redacted.value(key) }) }
  })
