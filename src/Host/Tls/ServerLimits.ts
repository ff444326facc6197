/**
 * What a client may take of a server: time, headers, values of a body, connections.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { DurationText } from "../Configuration/DurationText.ts"

const timeout = (text: string) => DurationText.pipe(Schema.withDecodingDefaultKey(Effect.succeed(text)))

const atLeastOne = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

/** The limits as fields of the section `host`. A timeout of 0 is none. */
export const fields = {
  headersTimeout: timeout("30 seconds").annotateKey({
    description: "How long a client may take to send the headers of a request."
  }),
  requestTimeout: timeout("5 minutes").annotateKey({ description: "How long it may take to send the whole request." }),
  keepAliveTimeout: timeout("65 seconds").annotateKey({
    description:
      "How long a connection may wait for the next request; longer than load balancers keep theirs, which is 60 seconds."
  }),
  sendTimeout: timeout("60 seconds").annotateKey({
    description: "How long a client may take none of what was sent to it."
  }),
  maxHeaderSize: atLeastOne
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(16_384)))
    .annotateKey({ description: "The largest headers of a request, in bytes." }),
  maxHeaderCount: atLeastOne
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(100)))
    .annotateKey({ description: "How many headers a request may have." }),
  maxRequestValues: atLeastOne
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(200_000)))
    .annotateKey({ description: "How many values a JSON or YAML body may have, at all levels." }),
  maxConnections: Schema.optionalKey(atLeastOne).annotateKey({
    description:
      "How many connections each listener takes at a time; those beyond are closed at once. Any number when absent."
  })
}

/** The limits. */
export type ServerLimits = Schema.Struct<typeof fields>["Type"]

/** A duration as Node's timers take it: whole milliseconds, and no more than 24 days. */
export const millisOf = (duration: Duration.Duration): number =>
  Math.min(Math.ceil(Duration.toMillis(duration)), 2 ** 31 - 1)

/** Options for every kind of server that Node has. */
export const serverOptions = (limits: ServerLimits) => {
  const requestTimeout = millisOf(limits.requestTimeout)
  const headersTimeout = millisOf(limits.headersTimeout)
  const shortest = Math.min(...[requestTimeout, headersTimeout].filter((millis) => millis > 0))
  return {
    requestTimeout,
    headersTimeout: headersTimeout > 0 ? shortest : 0,
    keepAliveTimeout: millisOf(limits.keepAliveTimeout),
    // How often Node looks for requests that are late.
    connectionsCheckingInterval: Math.ceil(Math.min(5_000, shortest / 4)),
    maxHeaderSize: limits.maxHeaderSize,
    // The pipeline refuses requests without one, as it refuses all else.
    requireHostHeader: false
  }
}
