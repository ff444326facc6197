import * as Layer from "effect/Layer"
import { Plugin, PluginApi } from "layerhost/Plugins"
import { AuthorizationLive } from "./AuthorizationLive.ts"
import { CredentialsApi } from "./CredentialsApi.ts"
import { CredentialsConfig } from "./CredentialsConfig.ts"
import { CredentialsHandlers } from "./CredentialsHandlers.ts"
import { CredentialStorage } from "./CredentialStorage.ts"

/** Credentials over HTTP, kept by the secret store. */
export const credentials = Plugin.make({
  id: "credentials",
  config: [CredentialsConfig],
  services: CredentialStorage.layer,
  apis: [PluginApi.make(CredentialsApi, Layer.provide(CredentialsHandlers, AuthorizationLive))]
})
