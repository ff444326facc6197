/**
 * Building plugins: their services one after another in sort order, and what stands on those, with every problem noted.
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Scope from "effect/Scope"
import type * as Plugin from "../../Plugins/Plugin.ts"
import { describe, type Phase, phaseNames, type StartProblem } from "../HostStartError.ts"

/** A plugin whose services were built, with everything that its other parts may use. */
export interface BuiltPlugin {
  readonly plugin: Plugin.Any
  /** The host's services, those of earlier plugins, its own, its configuration sections, and its name for log lines. */
  readonly context: Context.Context<never>
}

/** When the log tells of a plugin that is still being built. */
const slow = "10 seconds"

/** Builds the parts of plugins into one scope, and notes what goes wrong. */
export class PluginBuilder {
  readonly problems: Array<StartProblem> = []
  /** Plugins that lack something of their own: what fails in their other parts is a consequence, and not told. */
  readonly incomplete = new Set<Plugin.Any>()
  readonly #memoMap: Layer.MemoMap
  readonly #scope: Scope.Scope

  constructor(memoMap: Layer.MemoMap, scope: Scope.Scope) {
    this.#memoMap = memoMap
    this.#scope = scope
  }

  /** Builds the services of all plugins, which are given in sort order; each sees those of the plugins before it. */
  services(
    plugins: ReadonlyArray<Plugin.Any>,
    host: Context.Context<never>,
    sections: Context.Context<never>
  ): Effect.Effect<ReadonlyArray<BuiltPlugin>> {
    return Effect.gen({ self: this }, function* () {
      const built: Array<BuiltPlugin> = []
      let available = host
      for (const plugin of plugins) {
        const context = available.pipe(
          Context.merge(Context.pick(...plugin.config)(sections as Context.Context<any>)),
          Context.add(References.CurrentLogAnnotations, { namespace: plugin.id })
        )
        yield* Scope.addFinalizer(this.#scope, Effect.logDebug(`Released the services of plugin ${plugin.id}`))
        const own = yield* this.layer(plugin, "services", plugin.services, context)
        built.push({ plugin, context: own === undefined ? context : Context.merge(context, own) })
        if (own === undefined) {
          this.incomplete.add(plugin)
        } else {
          available = Context.merge(available, own)
          yield* Effect.logDebug(`Built the services of plugin ${plugin.id}`)
        }
      }
      return built
    })
  }

  /** Builds a layer of a plugin that lives as long as the host does. */
  layer<A>(
    plugin: Plugin.Any,
    phase: Phase,
    layer: Layer.Layer<A, unknown, any>,
    context: Context.Context<never>
  ): Effect.Effect<Context.Context<A> | undefined> {
    return this.run(plugin, phase, Layer.buildWithMemoMap(layer, this.#memoMap, this.#scope), context)
  }

  /**
   * Runs a part of a plugin in exactly the given context. Where it fails, notes the problem and goes on, so that all
   * problems are told at once.
   */
  run<A>(
    plugin: Plugin.Any,
    phase: Phase,
    effect: Effect.Effect<A, unknown, any>,
    context: Context.Context<never>
  ): Effect.Effect<A | undefined> {
    const own = Context.add(context, Scope.Scope, this.#scope) as Context.Context<any>
    const provided = Effect.updateContext<A, unknown, any, never>(effect, () => own)
    const warning = Effect.logWarning(
      `Plugin ${plugin.id}: its ${phaseNames[phase]} are still being built after ${slow}`
    )
    return Effect.acquireUseRelease(
      Effect.forkChild(Effect.delay(warning, slow)),
      () => Effect.exit(provided),
      Fiber.interrupt
    ).pipe(
      Effect.map((exit) => {
        if (Exit.isSuccess(exit)) return exit.value
        if (!this.incomplete.has(plugin)) {
          this.problems.push({ plugin: plugin.id, phase, message: this.#explain(exit.cause) })
        }
        return undefined
      })
    )
  }

  /** A service that is missing because the plugin that would provide it failed is a consequence, and told as one. */
  #explain(cause: Cause.Cause<unknown>): string {
    const missing = missingService(cause)
    if (missing === undefined) return describe(cause)
    const failed = this.problems.filter(({ phase }) => phase === "services").map(({ plugin }) => `"${plugin}"`)
    return failed.length === 0
      ? `needs the service ${missing}, which no earlier plugin provides; list one that does before this plugin`
      : `needs the service ${missing}, which is not there; the services of ${failed.join(", ")} failed: mend those first`
  }
}

const missingService = (cause: Cause.Cause<unknown>): string | undefined => {
  for (const reason of cause.reasons) {
    if (reason._tag !== "Die" || !(reason.defect instanceof Error)) continue
    const match = /^Service not found: (\S+)/.exec(reason.defect.message)
    if (match !== null) return match[1]
  }
  return undefined
}
