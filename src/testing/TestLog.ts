/** The log of a host as data: the very lines that the service would write, read back. */
import * as Effect from "effect/Effect"
import * as Recording from "./Recording.ts"

/** One line of the log. Values that the log masks are masked here, too. */
export interface LogLine {
  /** `Verbose`, `Debug`, `Information`, `Warning`, `Error` or `Fatal`. */
  readonly level: string
  /** The id of the plugin that logs, or `layerhost.host…` for the host. */
  readonly namespace: string
  readonly message: string
  readonly requestId: string | undefined
  /** The message of the error that the line tells of. */
  readonly error: string | undefined
  /** What `Effect.annotateLogs` added, and what the line was given besides its message. */
  readonly labels: Readonly<Record<string, unknown>>
}

/** A log of a host. It can be read when its host is gone, too. */
export interface TestLog {
  /** Every line so far; waits for those of the current turn of the event loop. */
  readonly lines: Effect.Effect<ReadonlyArray<LogLine>>
  /** The messages of the lines of a namespace. */
  readonly messages: (namespace: string) => Effect.Effect<ReadonlyArray<string>>
  /** Waits until a line with this message is written. */
  readonly waitFor: (message: string) => Effect.Effect<LogLine>
  /** Takes lines of the format `json`: the output of a host. */
  readonly write: (lines: string) => void
}

/** Makes an empty log. A host makes its own; a test needs this only to read what a host says that does not come up. */
export const make = (): TestLog => {
  const { add, all, waitFor } = Recording.make<LogLine>()
  return {
    lines: all,
    messages: (namespace) =>
      Effect.map(all, (lines) => lines.filter((line) => line.namespace === namespace).map(({ message }) => message)),
    waitFor: (message) => waitFor((line) => line.message === message),
    write: (lines) => {
      for (const line of lines.split("\n")) if (line !== "") add(parse(line))
    }
  }
}

const parse = (text: string): LogLine => {
  const fields = JSON.parse(text)
  return {
    level: fields["log.level"],
    namespace: fields["log.logger"],
    message: fields["message"],
    requestId: fields["http.request.id"],
    error: fields["error.message"],
    labels: fields["labels"] ?? {}
  }
}
