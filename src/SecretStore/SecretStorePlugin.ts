/**
 * The secret store as a plugin: it provides the backend that the configuration asks for, and checks that it can be used.
 */
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import type * as Path from "effect/Path"
import * as Plugin from "../Plugins/Plugin.ts"
import * as FileBackend from "./FileBackend.ts"
import { SecretBackend } from "./SecretBackend.ts"
import * as SecretCache from "./SecretCache.ts"
import * as SecretServer from "./SecretServer.ts"
import type { SecretStoreMisconfigured } from "./SecretServerOptions.ts"
import { SecretStoreConfig } from "./SecretStoreConfig.ts"

/** The backend that the configuration asks for; fails where it describes none that could work. */
export const backend: Layer.Layer<
  SecretBackend,
  SecretStoreMisconfigured,
  SecretStoreConfig | FileSystem.FileSystem | Path.Path
> = Layer.unwrap(
  SecretStoreConfig.useSync((config): typeof backend =>
    config.useLocalFileSystem ? FileBackend.layerConfig : SecretServer.layerConfig
  )
)

/** Provides `SecretBackend`, with a read cache where one is asked for, over which each bucket set's own storage stands. */
export const secretStore = Plugin.make({
  id: "layerhost/secret-store",
  config: [SecretStoreConfig],
  services: Layer.provide(SecretCache.layerConfig, backend),
  healthChecks: Effect.map(SecretBackend, ({ healthChecks }) => healthChecks)
})
