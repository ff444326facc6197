/** What tests of plugins and services are made with. */
export { replace, type Replacement, ReplacementUnused } from "./Replacement.ts"
export * as TestHost from "./TestHost.ts"
export * as TestLog from "./TestLog.ts"
