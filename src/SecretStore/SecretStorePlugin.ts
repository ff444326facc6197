/**
 * The secret store as a plugin: it provides the backend that the configuration asks for, and checks that it can be used.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Plugin from "../Plugins/Plugin.ts"
import * as FileBackend from "./FileBackend.ts"
import { healthCheck } from "./FileBackendHealth.ts"
import type { SecretBackend } from "./SecretBackend.ts"
import { SecretStoreConfig } from "./SecretStoreConfig.ts"

/** The configuration asks for the secret server, which this version cannot use yet. */
export class SecretServerUnsupported extends Schema.TaggedError<SecretServerUnsupported>()(
  "SecretServerUnsupported",
  {}
) {
  override get message(): string {
    return (
      "secretstore: secrets on a secret server are not supported yet. Set secretstore:useLocalFileSystem to true " +
      "(SECRETSTORE_USELOCALFILESYSTEM=true) to keep them as plain files in secretstore:localFileSystemPath, " +
      "for development and tests"
    )
  }
}

const backend: Layer.Layer<
  SecretBackend,
  SecretServerUnsupported,
  SecretStoreConfig | FileSystem.FileSystem | Path.Path
> = Layer.unwrap(
  SecretStoreConfig.useSync((config) =>
    config.useLocalFileSystem
      ? FileBackend.layer({ path: config.localFileSystemPath, totpPeriodInSeconds: config.totpPeriodInSeconds })
      : Layer.effectContext(Effect.fail(new SecretServerUnsupported()))
  )
)

/** Provides `SecretBackend`, over which each bucket set's own storage stands. */
export const secretStore = Plugin.make({
  id: "layerhost/secret-store",
  config: [SecretStoreConfig],
  services: backend,
  healthChecks: SecretStoreConfig.useSync((config) => [healthCheck(config.localFileSystemPath)])
})
