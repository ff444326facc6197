/**
 * The host's logging: Effect's log lines, filtered by namespace and written in one format.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import type { Scope } from "effect/Scope"
import * as Memo from "../Memo.ts"
import * as Series from "../Telemetry/Series.ts"
import * as JsonFormat from "./JsonFormat.ts"
import * as LineWriter from "./LineWriter.ts"
import * as LogfmtFormat from "./LogfmtFormat.ts"
import type { Format } from "./LoggingConfig.ts"
import * as LogLevels from "./LogLevels.ts"
import * as LogRecord from "./LogRecord.ts"
import * as LogValue from "./LogValue.ts"
import * as PrettyFormat from "./PrettyFormat.ts"

/** The hold on the log while the service runs. */
export class Logging extends Context.Service<
  Logging,
  {
    /**
     * Puts another level table in force, for every fiber at once. What it asks for below the floor of the layer stays
     * unwritten, and a warning says so.
     */
    readonly setLevels: (table: LogLevels.LevelTable) => Effect.Effect<void>
    /** Writes a line for which no fiber is needed, and which is made only where the level table wants it. */
    readonly write: <About>(
      level: LogLevels.LevelName,
      namespace: string,
      line: LogRecord.LineOf<About>,
      about: About
    ) => void
    /** Hands every line that is written to somebody else too, until the scope closes. */
    readonly forward: (take: (record: LogRecord.LogRecord) => void) => Effect.Effect<void, never, Scope>
    /** Writes the lines that wait for the end of the turn. */
    readonly flush: Effect.Effect<void>
  }
>()("layerhost/Host/Logging") {}

/** The namespace of what this module says itself. */
const namespace = "layerhost.host.logging"

/**
 * Replaces Effect's loggers by the host's, and provides {@link Logging}.
 *
 * Lines are written when the current turn of the event loop ends, when the layer is released and when the process exits;
 * what a killed process had not written is lost, and so is what a pipe did not take when `process.exit` ends the process.
 * A standard output that is slow or closed does no harm: see {@link LineWriter}.
 */
export const layer = (options: {
  readonly levels: LogLevels.LevelTable
  /** `pretty` on a terminal and `json` elsewhere when undefined. */
  readonly format: Format | undefined
  /**
   * The lowest level that a later table may ask for; the lowest of `levels` when absent. Lines below it cost next to
   * nothing, since Effect drops them before it looks for a logger; those that only the table suppresses cost a look-up.
   */
  readonly floor?: LogLevels.LevelName | undefined
  /** Whether a person reads the output; by default whether standard output is a terminal. */
  readonly isTerminal?: boolean | undefined
  /** Takes whole lines in place of standard output. */
  readonly write?: ((lines: string) => void) | undefined
}): Layer.Layer<Logging> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const context = yield* Effect.context()
      const clock = yield* Clock.Clock
      const isTerminal = options.isTerminal ?? (options.write === undefined && process.stdout.isTTY === true)
      const format = formatter(options.format ?? (isTerminal ? "pretty" : "json"), isTerminal)
      const sink =
        options.write === undefined ? LineWriter.fromStream(process.stdout) : LineWriter.fromFunction(options.write)
      const writer = LineWriter.make(sink, {
        dropped: (count) => format(droppedRecord(count, new Date(clock.currentTimeMillisUnsafe())))
      })
      process.on("exit", writer.flush)
      yield* Effect.addFinalizer(() =>
        Effect.andThen(
          writer.close,
          Effect.sync(() => process.off("exit", writer.flush))
        )
      )

      let levels = LogLevels.make(options.levels)
      const floor =
        options.floor === undefined || LogLevels.passes(options.floor, levels.lowest) ? levels.lowest : options.floor

      const takers = new Set<(record: LogRecord.LogRecord) => void>()
      const isWanted = (level: LogLevels.LevelName, namespace: string) =>
        LogLevels.passes(level, levels.minimumOf(namespace))
      const written = linesWritten(context)
      const write = (record: LogRecord.LogRecord) => {
        written(record.level).add(1)
        writer.add(format(record))
        for (const take of takers) take(record)
      }
      const logger = Logger.make((line) => {
        const level = LogLevels.fromEffect[line.logLevel]
        const namespace = LogRecord.namespaceOf(line)
        if (isWanted(level, namespace)) write(LogRecord.make(line, level, namespace))
      })

      return Context.make(Logging, {
        write: (level, namespace, line, about) => {
          if (!isWanted(level, namespace)) return
          if (format !== JsonFormat.format || takers.size > 0) return write(line.record(about))
          written(level).add(1)
          writer.add(line.json(about))
        },
        setLevels: Effect.fnUntraced(function* (table) {
          levels = LogLevels.make(table)
          if (!LogLevels.passes(levels.lowest, floor)) {
            yield* Effect.logWarning(
              `Lines below ${floor} stay unwritten until the next start, although the level table now asks for ${levels.lowest}`
            ).pipe(Effect.annotateLogs({ namespace }))
          }
        }),
        forward: (take) =>
          Effect.acquireRelease(
            Effect.sync(() => takers.add(take)),
            () => Effect.sync(() => takers.delete(take))
          ),
        flush: Effect.sync(writer.flush)
      }).pipe(
        Context.add(References.CurrentLoggers, new Set([logger])),
        Context.add(References.MinimumLogLevel, LogLevels.toEffect[floor])
      )
    })
  )

/** The lines written, by level. */
const linesWritten = (context: Context.Context<never>) =>
  Memo.make((level: LogLevels.LevelName) =>
    Series.counter(
      "layerhost.log.lines",
      { description: "Log lines written", attributes: { level }, incremental: true },
      context
    )
  )

const droppedRecord = (count: number, date: Date): LogRecord.LogRecord => ({
  date,
  level: "Warning",
  namespace,
  message: "Log lines were dropped, because the output did not take them in time",
  error: undefined,
  span: undefined,
  requestId: undefined,
  properties: new Map([["count", count]]),
  budget: LogValue.budget()
})

const formatter = (format: Format, isTerminal: boolean): ((record: LogRecord.LogRecord) => string) => {
  switch (format) {
    case "json":
      return JsonFormat.format
    case "logfmt":
      return LogfmtFormat.format
    case "pretty":
      return PrettyFormat.make(isTerminal && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb")
  }
}
