/**
 * A host for tests: built over plugins and configuration values alone, with its log as data.
 *
 * The pipeline, the composition and the log are those of a real host; only the sources of the configuration and the output
 * of the log are the test's. Nothing is read from the working directory, the environment or the arguments.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Host from "../../src/Host/Host.ts"
import type * as Plugin from "../../src/Plugins/Plugin.ts"
import type { Validated } from "../../src/Plugins/PluginList.ts"

/** One line of the log. */
export interface LogLine {
  readonly level: string
  readonly namespace: string
  readonly message: string
  readonly requestId: string | undefined
  /** The message of the error that the line tells of. */
  readonly error: string | undefined
  readonly labels: Readonly<Record<string, unknown>>
}

const parseLine = (text: string): LogLine => {
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

/** An answer, read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Sends a request to a path of the host. */
export type Send = (path: string, init?: RequestInit) => Effect.Effect<Answer>

/** A log of a host: an output for it, and what was written there. */
export interface TestLog {
  readonly write: (lines: string) => void
  /** Every line so far; waits for those of the current turn of the event loop. */
  readonly lines: Effect.Effect<ReadonlyArray<LogLine>>
  /** The messages of the lines of a namespace. */
  readonly messages: (namespace: string) => Effect.Effect<ReadonlyArray<string>>
  /** Waits until a line with this message is written. */
  readonly waitFor: (message: string) => Effect.Effect<LogLine>
}

/** Makes an empty log. It can be read when its host is gone, too. */
export const makeLog = (): TestLog => {
  let text = ""
  const parsed = () =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map(parseLine)
  const waiting = new Set<() => void>()
  const lines = Effect.map(
    Effect.promise(() => new Promise((resolve) => setImmediate(resolve))),
    parsed
  )
  return {
    write: (lines) => {
      text += lines
      for (const look of waiting) look()
    },
    lines,
    messages: (namespace) =>
      Effect.map(lines, (all) => all.filter((line) => line.namespace === namespace).map(({ message }) => message)),
    waitFor: (message) =>
      Effect.callback((resume) => {
        const look = () => {
          const line = parsed().find((line) => line.message === message)
          if (line === undefined) return
          waiting.delete(look)
          resume(Effect.succeed(line))
        }
        waiting.add(look)
        look()
      })
  }
}

/** How a host for tests may differ. */
export interface TestHostOptions {
  /** Configuration values, as a file would hold them. The level of the log is `Debug` unless they set it. */
  readonly values?: Readonly<Record<string, unknown>>
  /** A log that the test made itself, to read it when the host is gone. */
  readonly log?: TestLog
}

/** A host that is built, but does not listen. */
export interface TestHost {
  readonly host: Host.BuiltHost
  readonly log: TestLog
  /** Sends a request through the whole pipeline in memory. */
  readonly request: Send
}

/** The options of a host for tests. */
export const hostOptions = ({ log = makeLog(), values = {} }: TestHostOptions): Host.HostOptions => ({
  configuration: { values: { "host:urls": "http://127.0.0.1:0", "logging:minimumLevel": "Debug", ...values } },
  log: log.write
})

/** Builds a host; it is released with the scope. */
export const build = <const Plugins extends ReadonlyArray<Plugin.Any>>(
  plugins: Plugins & Validated<Plugins>,
  options: TestHostOptions = {}
): Effect.Effect<TestHost, Host.BuildError, Scope.Scope> => {
  const log = options.log ?? makeLog()
  return Effect.map(Host.build<Plugins>(plugins, hostOptions({ ...options, log })), (host) => ({
    host,
    log,
    request: (path, init) => read(() => host.fetch(new Request(`http://host${path}`, init)))
  }))
}

/** A host that listens on a free port of the loopback. */
export interface ListeningTestHost extends TestHost {
  readonly url: string
  /** Sends a request over a socket. */
  readonly request: Send
}

/** Builds a host and lets it listen, until the scope closes. */
export const listen = <const Plugins extends ReadonlyArray<Plugin.Any>>(
  plugins: Plugins & Validated<Plugins>,
  options: TestHostOptions = {}
): Effect.Effect<ListeningTestHost, Host.HostError, Scope.Scope> =>
  Effect.gen(function* () {
    const built = yield* build<Plugins>(plugins, options)
    const { addresses } = yield* built.host.listen
    const [url] = addresses
    return { ...built, url: url!, request: (path, init) => read(() => fetch(`${url}${path}`, init)) }
  })

const read = (send: () => Promise<Response>): Effect.Effect<Answer> =>
  Effect.promise(async () => {
    const response = await send()
    return { status: response.status, headers: response.headers, text: await response.text() }
  })
