import * as Schema from "effect/Schema"
import { Section } from "layerhost/Plugins"

/** The configuration section `notices`. */
export class NoticesConfig extends Section.Service<NoticesConfig>()("notices", {
  /** What there is to tell. */
  texts: Schema.Array(Schema.NonEmptyString)
}) {}
