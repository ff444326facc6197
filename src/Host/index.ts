/** What runs plugins. */
export * as Configuration from "./Configuration/Configuration.ts"
export { ConfigurationError, ConfigurationProblem } from "./Configuration/ConfigurationError.ts"
export * as Host from "./Host.ts"
export { HostLive } from "./Host.ts"
export { HostStartError } from "./HostStartError.ts"
export { ListenError } from "./Http/Listener.ts"
