/**
 * What a host does about changes of its configuration, where `host:reloadOnChange` is set.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Section from "../../Plugins/Section.ts"
import { Logging } from "../Logging/Logging.ts"
import { LoggingConfig } from "../Logging/LoggingConfig.ts"
import type { HostConfig } from "./HostConfig.ts"
import * as Reload from "./Reload.ts"

/**
 * Follows the changes for as long as the scope lives: the log takes its levels from them, and sections that ask for changes
 * get them by the context that this gives. The context is empty where nothing is to be followed.
 */
export const start = Effect.fnUntraced(function* (
  host: HostConfig["Service"],
  logging: LoggingConfig["Service"],
  options: Reload.ReloadOptions
) {
  if (!host.reloadOnChange) return Context.empty()
  const context = Context.make(Section.Changes, yield* Reload.make(options))
  const { setLevels } = yield* Logging
  yield* Stream.runForEach(Stream.drop(Section.changes(LoggingConfig), 1), setLevels).pipe(
    Effect.provideContext(Context.add(context, LoggingConfig, logging)),
    Effect.forkScoped
  )
  return context
})
