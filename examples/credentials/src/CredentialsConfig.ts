import * as Schema from "effect/Schema"
import { Section } from "layerhost/Plugins"

/** The configuration section `credentials`. */
export class CredentialsConfig extends Section.Service<CredentialsConfig>()("credentials", {
  /** The bearer token that callers present. */
  token: Schema.RedactedFromValue(Schema.NonEmptyString)
}) {}
