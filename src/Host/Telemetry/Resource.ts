/** The service as telemetry describes it, by OpenTelemetry's conventions for resources. */
import { randomUUID } from "node:crypto"
import { hostname } from "node:os"
import type { TelemetryConfig } from "./TelemetryConfig.ts"

/** Attributes that everything the service tells of itself has in common. */
export type ResourceAttributes = Readonly<Record<string, string | number>>

/**
 * Makes the attributes of this process. What the configuration says wins over `OTEL_SERVICE_NAME`, that over
 * `OTEL_RESOURCE_ATTRIBUTES`, and that over what the process finds out.
 */
export const make = (
  config: Pick<TelemetryConfig["Service"], "name" | "version">,
  environment: Readonly<Record<string, string | undefined>>,
  hostVersion: string
): ResourceAttributes => {
  const name = config.name ?? (environment["OTEL_SERVICE_NAME"] || undefined)
  const npmVersion = environment["npm_package_version"]
  return {
    "service.name": "layerhost",
    ...(npmVersion === undefined ? undefined : { "service.version": npmVersion }),
    "service.instance.id": randomUUID(),
    "host.name": hostname(),
    "process.pid": process.pid,
    "process.runtime.name": "nodejs",
    "process.runtime.version": process.versions.node,
    "telemetry.sdk.name": "layerhost",
    "telemetry.sdk.language": "nodejs",
    "telemetry.sdk.version": hostVersion,
    ...parseAttributes(environment["OTEL_RESOURCE_ATTRIBUTES"] ?? ""),
    ...(name === undefined ? undefined : { "service.name": name }),
    ...(config.version === undefined ? undefined : { "service.version": config.version })
  }
}

/** `key=value,key=value`, percent-encoded as in a baggage header. What is malformed is left out. */
const parseAttributes = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split(",").flatMap((pair) => {
      const equals = pair.indexOf("=")
      const key = decode(pair.slice(0, Math.max(equals, 0)))
      const value = decode(pair.slice(equals + 1))
      return key === undefined || key === "" || value === undefined ? [] : [[key, value]]
    })
  )

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.trim())
  } catch {
    return undefined
  }
}
