/**
 * The host: from a list of plugins to a service that is ready to listen, and from there to one that runs.
 *
 * Building and running are apart, so that a test sends requests through the whole pipeline in memory.
 */
// Compiles schemas into functions where that is allowed; before any module whose schemas it is to compile.
import "effect/schema/SchemaJITCompiler/enable"
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpEffect from "effect/http/HttpEffect"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import packageJson from "../../package.json" with { type: "json" }
import type * as Plugin from "../Plugins/Plugin.ts"
import type { Validated } from "../Plugins/PluginList.ts"
import { sort as sortByOrigin } from "../Plugins/PluginOrigin.ts"
import * as Application from "./Composition/Application.ts"
import * as PluginTasks from "./Composition/PluginTasks.ts"
import type * as Configuration from "./Configuration/Configuration.ts"
import type { ConfigurationError } from "./Configuration/ConfigurationError.ts"
import * as ReloadOnChange from "./Configuration/ReloadOnChange.ts"
import * as HostConfiguration from "./HostConfiguration.ts"
import type { HostStartError } from "./HostStartError.ts"
import * as Listener from "./Http/Listener.ts"
import type { RegisteredRoute } from "./Http/RouteRegistry.ts"
import * as Logging from "./Logging/Logging.ts"
import * as Platform from "./Platform.ts"
import * as Shutdown from "./Shutdown.ts"
import * as Telemetry from "./Telemetry/Telemetry.ts"
import type { TelemetryFileError } from "./Telemetry/Tls.ts"
import type { TlsError } from "./Tls/Tls.ts"

/** How a host is built, where that differs from what a process does. */
export interface HostOptions {
  /**
   * Where the configuration comes from. When absent: the `appsettings` files of the working directory, the environment
   * and the arguments of the process.
   */
  readonly configuration?: Configuration.Sources
  /** Takes the lines of the log in place of standard output. */
  readonly log?: (lines: string) => void
  /** Takes every span that ended, requests' spans too, whether or not `telemetry:endpoint` names a target. */
  readonly onSpan?: (span: Tracer.Span) => void
}

/** A host that is built: everything is there, but nothing listens. */
export interface BuiltHost {
  /** The ids of the plugins, in the order in which they run. */
  readonly plugins: ReadonlyArray<string>
  readonly routes: ReadonlyArray<RegisteredRoute>
  /** Sends a request through the whole pipeline in memory. */
  readonly fetch: (request: Request) => Promise<Response>
  /** Listens on every address of `host:urls` and starts the tasks, until the scope closes. */
  readonly listen: Effect.Effect<RunningHost, Listener.ListenError | TlsError, Scope.Scope>
}

/** A host that listens. */
export interface RunningHost {
  /** The URLs that the host listens on; a port 0 is replaced by the one that was picked. */
  readonly addresses: ReadonlyArray<string>
}

/** Why a host does not start. */
export type HostError = BuildError | Listener.ListenError | TlsError

/** Why a host cannot be built. */
export type BuildError = ConfigurationError | HostStartError | TelemetryFileError

/** The host of this program, for whoever starts beside it. */
export class Host extends Context.Service<Host, BuiltHost & RunningHost>()("layerhost/Host") {}

/**
 * Builds a host: reads the configuration, starts logging, builds the plugins in sort order, and puts their middleware and
 * routes together. Everything is released, in reverse order, when the scope closes.
 */
export const build = <const Plugins extends ReadonlyArray<Plugin.Any>>(
  plugins: Plugins & Validated<Plugins>,
  options: HostOptions = {}
): Effect.Effect<BuiltHost, BuildError, Scope.Scope> =>
  Effect.gen(function* () {
    const sorted = sortByOrigin(plugins as ReadonlyArray<Plugin.Any>)
    const platform = yield* Layer.build(Platform.layer)
    const sources = options.configuration ?? processSources()
    const configuration = yield* Effect.provideContext(HostConfiguration.load(sorted, sources), platform)
    const logging = yield* Layer.build(
      Logging.layer({
        levels: configuration.logging,
        format: configuration.logging.format,
        write: options.log,
        // What changes later may ask for less than what stands now.
        floor: configuration.host.reloadOnChange ? "Verbose" : undefined
      })
    )
    const base = Context.mergeAll(yield* ambient, configuration.provider, logging).pipe(
      Context.add(References.CurrentLogAnnotations, { namespace: "layerhost.host" })
    )
    const { host, logging: levels, ownedSections: sections, tree } = configuration
    return yield* within(
      base,
      Effect.gen(function* () {
        const reload = yield* Effect.provideContext(
          ReloadOnChange.start(host, levels, { sources, sections, tree }),
          Context.merge(base, platform)
        )
        return yield* assemble(sorted, { base: Context.merge(base, reload), platform, configuration, sources, options })
      })
    )
  })

/** What surrounds the host, without that which concerns only the fiber that builds it. */
const ambient = Effect.map(
  Effect.context<never>(),
  Context.omit(Scope.Scope, Tracer.ParentSpan, References.CurrentLogSpans, References.CurrentStackFrame)
)

/**
 * Runs an effect in exactly this context. Its finalizers run there too: what they log goes to the host's log, and so does
 * what goes wrong in them, which nobody else would tell of when a signal ends the process.
 */
const within = <A, E>(
  context: Context.Context<never>,
  effect: Effect.Effect<A, E, Scope.Scope>
): Effect.Effect<A, E, Scope.Scope> =>
  Effect.flatMap(
    Effect.acquireRelease(Scope.make(), (scope, exit) =>
      Scope.close(scope, exit).pipe(
        Effect.tapCause((cause) => Effect.logError("Not everything could be released", cause)),
        Effect.updateContext(() => context)
      )
    ),
    (scope) => Effect.updateContext(effect, () => Context.add(context, Scope.Scope, scope))
  )

/** What a process is configured by. */
const processSources = (): Configuration.Sources => ({
  directory: process.cwd(),
  environment: process.env,
  args: process.argv.slice(2)
})

/** Where `telemetry:console` shows what requests did. */
const terminal = {
  write: (text: string): void => void process.stdout.write(text),
  colors: !process.env["NO_COLOR"]
}

/** What the phases after configuration and logging start from. */
interface Foundation {
  /** The log, the configuration for Effect's `Config`, and what surrounds the host. */
  readonly base: Context.Context<Logging.Logging>
  /** What plugins see besides. */
  readonly platform: Context.Context<never>
  readonly configuration: HostConfiguration.HostConfiguration
  readonly sources: Configuration.Sources
  readonly options: HostOptions
}

/** The phases after configuration and logging, each of which logs at Debug what it did. */
const assemble = Effect.fnUntraced(function* (
  plugins: ReadonlyArray<Plugin.Any>,
  { base, platform, configuration, sources, options }: Foundation
) {
  yield* Effect.forEach(configuration.warnings, (warning) => Effect.logWarning(`Configuration: ${warning}`))
  const { files } = configuration.tree
  yield* Effect.logDebug(`Read ${files.length} configuration files`, { files })
  yield* Effect.logDebug(`Sorted ${plugins.length} plugins`, { plugins: plugins.map(({ id }) => id) })
  // Older than the application, so that it still takes what the plugins' finalizers say.
  const telemetry = yield* Telemetry.make({
    config: configuration.telemetry,
    environment: sources.environment ?? {},
    version: packageJson.version,
    plugins: plugins.map(({ id }) => id),
    terminal: options.log === undefined && process.stdout.isTTY ? terminal : undefined,
    onSpan: options.onSpan
  })
  if (telemetry.log !== undefined) yield* Context.get(base, Logging.Logging).forward(telemetry.log)
  /** What requests and tasks run in. */
  const surroundings = Context.merge(base, telemetry.services)
  const shutdown = new Shutdown.Shutdown()
  const application = yield* Application.build({
    plugins,
    host: Context.merge(surroundings, platform),
    configuration,
    telemetry,
    isShuttingDown: () => shutdown.hasBegun
  })

  const listen = Effect.gen(function* () {
    const scope = yield* Effect.scope
    // Tasks go on until the last request is answered: their scope is older than the listeners, so it closes later.
    const tasks = yield* Scope.fork(scope)
    const bound = yield* Listener.listen(configuration.urls, application, {
      ...configuration.host,
      tls: configuration.tls
    })
    const addresses = bound.map(Listener.formatAddress)
    yield* Scope.addFinalizer(scope, shutdown.begin(configuration.host.shutdownDelay))
    yield* PluginTasks.start(application.plugins, tasks)
    yield* Effect.logInfo(`Listening on ${addresses.join(", ")}`)
    return { addresses }
  })

  return {
    plugins: plugins.map(({ id }) => id),
    routes: application.routes,
    fetch: HttpEffect.toWebHandlerWith<never, HttpServerRequest | Scope.Scope>(
      Context.add(surroundings, References.CurrentLogAnnotations, {})
    )(application.httpEffect),
    listen: within(surroundings, listen)
  } satisfies BuiltHost
})

/**
 * A host over the given plugins, as a layer that listens for as long as it lives.
 *
 * A plugin that needs a service which no earlier plugin provides is a compile error on that plugin.
 */
export const HostLive = <const Plugins extends ReadonlyArray<Plugin.Any>>(
  plugins: Plugins & Validated<Plugins>,
  options?: HostOptions
): Layer.Layer<Host, HostError> =>
  Layer.effect(
    Host,
    Effect.gen(function* () {
      const built = yield* build<Plugins>(plugins, options)
      return { ...built, ...(yield* built.listen) }
    })
  )

/** The host did not start, and why has been written to standard error. */
export class StartFailed extends Data.TaggedError("StartFailed")<{ readonly cause: HostError }> {
  override readonly [Runtime.errorReported] = false
}

/**
 * Runs a host until it is interrupted; then requests in flight are answered and everything is released. Why a host does
 * not start is written to standard error.
 *
 * @example
 * ```ts
 * Host.run(plugins).pipe(NodeRuntime.runMain({ teardown: Host.teardown }))
 * ```
 */
export const run = <const Plugins extends ReadonlyArray<Plugin.Any>>(
  plugins: Plugins & Validated<Plugins>,
  options?: HostOptions
): Effect.Effect<never, StartFailed> =>
  Layer.launch(HostLive<Plugins>(plugins, options)).pipe(
    Effect.catch((cause) => Effect.andThen(Console.error(cause.message), new StartFailed({ cause })))
  )

/** The status of a process that runs a host: 0 when a signal ended it, since that is how a service ends; 1 on failure. */
export const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)

/** Runs a host as the main program of a process: until SIGTERM or SIGINT, which end it with status 0. */
export const runMain = <const Plugins extends ReadonlyArray<Plugin.Any>>(
  plugins: Plugins & Validated<Plugins>,
  options?: HostOptions
): void => Platform.runMain(run<Plugins>(plugins, options), { teardown })
