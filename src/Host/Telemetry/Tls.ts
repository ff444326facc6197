/** The PEM files of `telemetry:tls`. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { readFile } from "node:fs/promises"
import { getCACertificates } from "node:tls"
import type { TlsOptions } from "./Otlp/Transport.ts"
import type { TelemetryConfig } from "./TelemetryConfig.ts"

/** A file that `telemetry:tls` names cannot be read. */
export class TelemetryFileError extends Schema.TaggedError<TelemetryFileError>()("TelemetryFileError", {
  /** The key of the configuration. */
  key: Schema.String,
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.key}: the file ${this.path} cannot be read: ${this.reason}`
  }
}

/** Reads the files that are named. */
export const read = Effect.fnUntraced(function* (tls: TelemetryConfig["Service"]["tls"]) {
  const ca = yield* readPem("certificateAuthorityPath", tls.certificateAuthorityPath)
  const cert = yield* readPem("certificatePath", tls.certificatePath)
  const key = yield* readPem("keyPath", tls.keyPath)
  const options: TlsOptions = {
    ...(ca === undefined ? undefined : { ca: [...getCACertificates("default"), ca] }),
    ...(cert === undefined ? undefined : { cert }),
    ...(key === undefined ? undefined : { key }),
    ...(tls.passphrase === undefined ? undefined : { passphrase: Redacted.value(tls.passphrase) })
  }
  return options
})

const readPem = (field: string, path: string | undefined): Effect.Effect<string | undefined, TelemetryFileError> =>
  path === undefined
    ? Effect.succeed(undefined)
    : Effect.tryPromise({
        try: () => readFile(path, "utf8"),
        catch: (error) =>
          new TelemetryFileError({
            key: `telemetry:tls:${field}`,
            path,
            reason: (error as NodeJS.ErrnoException).code ?? String(error)
          })
      })
