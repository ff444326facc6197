/**
 * What is known of a secret beside its values: its version, and when it was written.
 */
import type * as DateTime from "effect/DateTime"

/** The state of a secret. */
export interface SecretMetadata {
  /** 1 when the secret is new; counts up with each write. */
  readonly version: number
  /** When the secret was made. */
  readonly created: DateTime.Utc
  /** When the version that stands was written. */
  readonly updated: DateTime.Utc
}

/** A version of a secret that can be restored, the one that stands among them. */
export interface SecretVersion {
  readonly version: number
  /** When it was written. */
  readonly created: DateTime.Utc
}
