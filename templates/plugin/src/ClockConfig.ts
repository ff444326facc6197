import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Section } from "layerhost/Plugins"

/** The section `clock` of the configuration. */
export class ClockConfig extends Section.Service<ClockConfig>()("clock", {
  zone: Schema.TimeZoneFromString.pipe(
    Schema.withDecodingDefaultTypeKey(Effect.succeed(DateTime.zoneMakeOffset(0)))
  ).annotateKey({
    description: "A time zone, such as Europe/Vienna."
  })
}) {}
