/** The plugin web host for Effect: what plugins are made of, and what runs them. */
export * as HealthCheck from "./Plugins/HealthCheck.ts"
export * as Host from "./Host/Host.ts"
export { HostLive } from "./Host/Host.ts"
export * as Middleware from "./Plugins/Middleware.ts"
export * as Plugin from "./Plugins/Plugin.ts"
export * as PluginApi from "./Plugins/PluginApi.ts"
export * as Section from "./Plugins/Section.ts"
export * as Task from "./Plugins/Task.ts"
