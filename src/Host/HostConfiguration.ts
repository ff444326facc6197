/**
 * The configuration of a host: loaded from its sources, and decoded for the host itself and every plugin at once.
 */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Plugin from "../Plugins/Plugin.ts"
import * as Configuration from "./Configuration/Configuration.ts"
import type { ConfigurationTree } from "./Configuration/ConfigurationTree.ts"
import { decode, type OwnedSection } from "./Configuration/Decode.ts"
import * as HostConfig from "./Configuration/HostConfig.ts"
import * as TreeConfigProvider from "./Configuration/TreeConfigProvider.ts"
import { CompressionConfig } from "./Compression/CompressionConfig.ts"
import { CorsPolicy } from "./Cors/CorsPolicy.ts"
import { ForwardedHeadersConfig } from "./ForwardedHeaders/ForwardedHeadersConfig.ts"
import * as ListenUrl from "./Http/ListenUrl.ts"
import { HealthConfig } from "./Health/HealthConfig.ts"
import { LoggingConfig } from "./Logging/LoggingConfig.ts"
import { RateLimitConfig, RateLimitPolicies, RateLimitRedis } from "./RateLimiting/RateLimitConfig.ts"
import { TelemetryConfig } from "./Telemetry/TelemetryConfig.ts"
import { TlsConfig } from "./Tls/TlsConfig.ts"

/** The name under which the host's own sections, routes and checks stand beside those of plugins. */
export const hostName = "layerhost/host"

/** The sections of the host itself. */
export const hostSections: ReadonlyArray<OwnedSection> = [
  HostConfig.HostConfig,
  TlsConfig,
  ForwardedHeadersConfig,
  CompressionConfig,
  RateLimitConfig,
  RateLimitRedis,
  RateLimitPolicies,
  CorsPolicy,
  HealthConfig,
  LoggingConfig,
  TelemetryConfig,
  HostConfig.DocsConfig
].map((section) => ({ section, owner: hostName }))

/** What the host reads of the configuration. */
export interface HostConfiguration {
  readonly tree: ConfigurationTree
  readonly warnings: ReadonlyArray<string>
  readonly host: HostConfig.HostConfig["Service"]
  /** The addresses of `host:urls`. */
  readonly urls: ReadonlyArray<ListenUrl.ListenUrl>
  readonly tls: TlsConfig["Service"]
  readonly forwardedHeaders: ForwardedHeadersConfig["Service"]
  readonly compression: CompressionConfig["Service"]
  readonly rateLimiting: RateLimitConfig["Service"]
  readonly rateLimitRedis: RateLimitRedis["Service"]
  readonly rateLimitPolicies: RateLimitPolicies["Service"]
  readonly cors: CorsPolicy["Service"]
  readonly health: HealthConfig["Service"]
  readonly logging: LoggingConfig["Service"]
  readonly telemetry: TelemetryConfig["Service"]
  readonly docs: HostConfig.DocsConfig["Service"]
  /** Every section with its owner. */
  readonly ownedSections: ReadonlyArray<OwnedSection>
  /** The decoded sections of all plugins. */
  readonly sections: Context.Context<never>
  /** Lets Effect's own `Config` read the same values. */
  readonly provider: Context.Context<never>
}

/** Loads and decodes; the error lists everything that is wrong with any source or section. */
export const load = Effect.fnUntraced(function* (plugins: ReadonlyArray<Plugin.Any>, sources: Configuration.Sources) {
  const tree = yield* Configuration.load(sources)
  const pluginSections = plugins.flatMap(({ id, config }) => config.map((section) => ({ section, owner: id })))
  const ownedSections = firstOfEachPath([...hostSections, ...pluginSections])
  const { services, warnings } = yield* decode(tree, ownedSections)
  const sections = services as Context.Context<any>
  const host = Context.get(sections, HostConfig.HostConfig)
  return {
    tree,
    warnings: warnings.map(String),
    host,
    // The section's Schema has let only lists through that parse.
    urls: Result.getOrThrow(ListenUrl.parseList(host.urls)),
    tls: Context.get(sections, TlsConfig),
    forwardedHeaders: Context.get(sections, ForwardedHeadersConfig),
    compression: Context.get(sections, CompressionConfig),
    rateLimiting: Context.get(sections, RateLimitConfig),
    rateLimitRedis: Context.get(sections, RateLimitRedis),
    rateLimitPolicies: Context.get(sections, RateLimitPolicies),
    cors: Context.get(sections, CorsPolicy),
    health: Context.get(sections, HealthConfig),
    logging: Context.get(sections, LoggingConfig),
    telemetry: Context.get(sections, TelemetryConfig),
    docs: Context.get(sections, HostConfig.DocsConfig),
    ownedSections,
    sections: services,
    provider: Context.make(ConfigProvider.ConfigProvider, TreeConfigProvider.make(tree))
  } satisfies HostConfiguration
})

/** A section that two plugins share is read once; one at another's path is a problem that the start reports. */
const firstOfEachPath = (sections: ReadonlyArray<OwnedSection>): ReadonlyArray<OwnedSection> =>
  [...Map.groupBy(sections, ({ section }) => section.path.toLowerCase()).values()].map(([first]) => first!)
