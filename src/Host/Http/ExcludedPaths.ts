/** Paths that are left out: of the request log, of traces. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The paths of probes, scrapers and documentation, which nobody wants to read of. */
const defaults: ReadonlyArray<string> = ["/health/*", "/metrics", "/docs", "/openapi.json", "/openapi.yaml"]

/** A list of paths as a field of a section. */
export const Field = Schema.Array(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(defaults)))

/** Whether a path is one of the given; a pattern that ends in `*` stands for all paths that begin like it. */
export const make = (patterns: ReadonlyArray<string>): ((path: string) => boolean) => {
  if (patterns.length === 0) return () => false
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith("*")))
  const prefixes = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1))
  return (path) => exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix))
}
