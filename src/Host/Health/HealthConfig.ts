/**
 * The section `health` of the configuration.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Section from "../../Plugins/Section.ts"

const bytes = (byDefault: number) =>
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).pipe(Schema.withDecodingDefaultKey(Effect.succeed(byDefault)))

/** The thresholds of the host's own checks. */
export class HealthConfig extends Section.Service<HealthConfig>()("health", {
  minimumFreeDiskSpace: bytes(100 * 1024 ** 2).annotateKey({
    description: "The free space, in bytes, below which a drive makes the check disk_space unhealthy."
  }),
  maxAllocatedMemory: bytes(2 * 1024 ** 3).annotateKey({
    description: "The allocated memory, in bytes, from which on the check memory is unhealthy."
  })
}) {}
