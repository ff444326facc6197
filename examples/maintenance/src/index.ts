/** Maintenance of a service: the plugin, the service for other plugins, and the API for clients. */
export { Maintenance } from "./Maintenance.ts"
export { MaintenanceApi } from "./MaintenanceApi.ts"
export { MaintenanceConfig } from "./MaintenanceConfig.ts"
export { maintenance } from "./MaintenancePlugin.ts"
