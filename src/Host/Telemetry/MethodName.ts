/** The methods of HTTP as telemetry tells them, so that whoever makes one up makes no new series. */

/** The methods that OpenTelemetry's conventions know (https://opentelemetry.io/docs/specs/semconv/http/http-spans/). */
const known: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "QUERY",
  "CONNECT",
  "TRACE"
])

/** What stands for any other method. */
export const other = "_OTHER"

/** The method itself where it is known, else {@link other}. */
export const of = (method: string): string => (known.has(method) ? method : other)
