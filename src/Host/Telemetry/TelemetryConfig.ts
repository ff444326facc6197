/**
 * The configuration section `telemetry`.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Section from "../../Plugins/Section.ts"
import * as ExcludedPaths from "../Http/ExcludedPaths.ts"
import { DurationText } from "../Configuration/DurationText.ts"
import * as Tls from "./Tls.ts"

/** How telemetry is sent: OTLP over gRPC, or over HTTP as protobuf or as JSON. */
export const protocols = ["grpc", "http/protobuf", "http/json"] as const

/** How telemetry is sent. */
export type Protocol = (typeof protocols)[number]

const Endpoint = Schema.String.check(
  Schema.makeFilter((text) => {
    const url = URL.parse(text)
    return url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === ""
      ? true
      : 'Expected an "http" or "https" URL without a query, such as "http://collector:4318"'
  })
)

/** A name that HTTP/1.1 and HTTP/2 take, and that is not one of the transport's own. */
const HeaderName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { expected: "the name of an HTTP header" })
)

const isExported = (description: string) =>
  Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(true))).annotateKey({ description })

/** Under which name the service appears in traces, metrics and logs, and where these are sent. */
export class TelemetryConfig extends Section.Service<TelemetryConfig>()("telemetry", {
  name: Schema.optionalKey(Schema.NonEmptyString).annotateKey({
    description: "The service's name; else OTEL_SERVICE_NAME, service.name in OTEL_RESOURCE_ATTRIBUTES, or layerhost."
  }),
  version: Schema.optionalKey(Schema.NonEmptyString).annotateKey({
    description: "The service's version; else service.version in OTEL_RESOURCE_ATTRIBUTES, or what npm started."
  }),
  endpoint: Schema.optionalKey(Endpoint).annotateKey({
    description: "The OTLP target; when absent nothing is traced and nothing is sent, and only /metrics is there."
  }),
  protocol: Schema.Literals(protocols)
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("http/protobuf")))
    .annotateKey({ description: "How the target is spoken to." }),
  traces: isExported("Whether traces are sent to the target."),
  metrics: isExported("Whether metrics are sent to the target; /metrics has them either way."),
  logs: isExported("Whether log lines are sent to the target."),
  headers: Schema.Array(Schema.Struct({ name: HeaderName, value: Schema.RedactedFromValue(Schema.String) }))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
    .annotateKey({ description: "Sent to the target with every request." }),
  sampleRatio: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(1)))
    .annotateKey({ description: "The share of requests to trace, 0 to 1, of those whose caller has not decided." }),
  console: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))).annotateKey({
    description: "Whether the spans of each request are shown as a tree, where standard output is a terminal."
  }),
  excludedPaths: ExcludedPaths.Field.annotateKey({
    description:
      "The paths of requests that are not traced; one that ends in * stands for all paths that begin like it."
  }),
  timeout: DurationText.pipe(Schema.withDecodingDefaultKey(Effect.succeed("10 seconds"))).annotateKey({
    description: "How long the target may take to answer once."
  }),
  shutdownTimeout: DurationText.pipe(Schema.withDecodingDefaultKey(Effect.succeed("3 seconds"))).annotateKey({
    description: "How long the host may take to send what is left when it stops."
  }),
  metricsInterval: DurationText.check(
    Schema.makeFilter(
      (interval) => Duration.isGreaterThanOrEqualTo(interval, Duration.seconds(1)) || "Expected one second or more"
    )
  )
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("60 seconds")))
    .annotateKey({ description: "How often metrics are sent." }),
  tls: Schema.Struct({
    certificateAuthorityPath: Schema.optionalKey(Schema.NonEmptyString),
    certificatePath: Schema.optionalKey(Schema.NonEmptyString),
    keyPath: Schema.optionalKey(Schema.NonEmptyString),
    passphrase: Schema.optionalKey(Schema.RedactedFromValue(Schema.String))
  })
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed({})))
    .annotateKey({
      description: "PEM files for an https target: whom to trust beside what the system trusts, and who the host is."
    })
}) {
  /** Whether the files of `tls` can be read, where there is a target for them. */
  static override readonly check: Section.Check<TelemetryConfig["Service"]> = ({ endpoint, tls }) =>
    endpoint === undefined
      ? Effect.succeed([])
      : Effect.match(Tls.read(tls), {
          onSuccess: () => [],
          onFailure: ({ key, path, reason }) => [{ key, message: `the file ${path} cannot be read: ${reason}` }]
        })
}
