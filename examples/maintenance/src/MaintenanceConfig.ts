import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Section } from "layerhost/Plugins"

/** The configuration section `maintenance`. With `host:reloadOnChange` it takes effect while the service runs. */
export class MaintenanceConfig extends Section.Service<MaintenanceConfig>()("maintenance", {
  /** Whether the service is under maintenance. */
  enabled: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  /** After how many seconds clients may come back. */
  retryAfter: Schema.Int.check(Schema.isGreaterThan(0)).pipe(Schema.withDecodingDefaultKey(Effect.succeed(60)))
}) {}
