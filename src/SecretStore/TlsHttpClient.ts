/**
 * An HTTP client with certificates of its own, and so with connections of its own.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Tls } from "./SecretServerOptions.ts"

/**
 * The client that trusts the given authorities and shows the given certificate.
 *
 * Built afresh: layers are shared by identity, and a client without certificates, built before from the same parts, would
 * take this one's place.
 */
export const layerTls = ({ key, ...certificates }: Tls): Layer.Layer<HttpClient.HttpClient> =>
  Layer.fresh(
    NodeHttpClient.layerUndiciOptions({
      connect: { ...certificates, ...(key !== undefined && { key: Redacted.value(key) }) }
    })
  )
