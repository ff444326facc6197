/** How requests get to a collector. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Signal } from "./Signal.ts"

/** A request did not arrive, or was refused. */
export class SendError extends Schema.TaggedError<SendError>()("SendError", {
  message: Schema.String,
  /** Whether the same request may succeed later. */
  retryable: Schema.Boolean,
  /** What the collector asks to wait. */
  retryAfter: Schema.UndefinedOr(Schema.Duration)
}) {}

/** Sends one request and gives the body of the answer. Interruption ends the attempt. */
export type Send = (signal: Signal, body: Uint8Array) => Effect.Effect<Uint8Array, SendError>

/** Where requests go, whatever carries them. */
export interface TransportOptions {
  readonly endpoint: URL
  readonly contentType: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly tls: TlsOptions
  /** How long an answer may take, which gRPC tells the collector. */
  readonly timeout: Duration.Duration
}

/** PEM texts. */
export interface TlsOptions {
  readonly ca?: Array<string>
  readonly cert?: string
  readonly key?: string
  readonly passphrase?: string
}

/** An answer longer than this is not read. */
export const maxAnswerSize = 65_536

/** How an error of Node's network modules is told; those for several addresses have no message of their own. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as NodeJS.ErrnoException
  // The call ended because the connection did.
  if (code === "ERR_HTTP2_STREAM_CANCEL" && error.cause !== undefined) return reasonOf(error.cause)
  return error.message === "" ? (code ?? error.name) : error.message
}
