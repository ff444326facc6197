/**
 * A host for tests: the real pipeline over given plugins, with its configuration as an object and what it says as data.
 *
 * Nothing is read from the working directory, the environment or the arguments. Each host has metrics of its own, so that
 * tests side by side do not see each other.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import type * as HttpApi from "effect/http-api/HttpApi"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Metric from "effect/Metric"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type * as Tracer from "effect/Tracer"
import * as Host from "../Host/Host.ts"
import type * as Plugin from "../Plugins/Plugin.ts"
import type { Validated } from "../Plugins/PluginList.ts"
import * as Recording from "./Recording.ts"
import * as Replacement from "./Replacement.ts"
import * as TestLog from "./TestLog.ts"

/** How a host for tests may differ. */
export interface TestHostOptions {
  /** Configuration, as a file would hold it. The log is at `Debug` unless `logging:minimumLevel` says otherwise. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Listen on a free port of the loopback, and start the plugins' tasks. By default nothing listens, and requests stay in memory. */
  readonly listen?: boolean
  /** What stands in for layers of the plugins; see {@link Replacement.replace}. */
  readonly replace?: ReadonlyArray<Replacement.Replacement>
  /** A log that the test made itself, to read what a host says that does not come up. */
  readonly log?: TestLog.TestLog
}

/** An answer, read to its end. */
export interface TestResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON. Throws where it is none. */
  readonly json: unknown
}

/** The spans of a host. */
export interface TestSpans {
  /** Every span that ended so far; waits for those of the current turn of the event loop. */
  readonly ended: Effect.Effect<ReadonlyArray<Tracer.Span>>
  /** Waits until a span of this name has ended. Requests have the name `GET /orders/{id}`. */
  readonly waitFor: (name: string) => Effect.Effect<Tracer.Span>
}

/** A host in a test. */
export interface Service {
  /** Where requests go: `http://localhost`, or the address that the host listens on. */
  readonly url: string
  /** What was built: its plugins and routes, and `listen` for a test that listens at a time of its own. */
  readonly host: Host.BuiltHost
  /** Sends a request to a path through the whole pipeline, and reads the answer. Interruption aborts it. */
  readonly request: (path: string, init?: RequestInit) => Effect.Effect<TestResponse>
  /** The same as `fetch` of the platform: for streams, and for tests without Effect. */
  readonly fetch: (path: string, init?: RequestInit) => Promise<Response>
  /** The same as a client of Effect: its URLs are paths. */
  readonly httpClient: HttpClient.HttpClient
  /** A typed client of an API. `transformClient` may add headers, such as a token. */
  readonly client: <Id extends string, Groups extends HttpApiGroup.Constraint>(
    api: HttpApi.HttpApi<Id, Groups>,
    options?: { readonly transformClient?: (client: HttpClient.HttpClient) => HttpClient.HttpClient }
  ) => Effect.Effect<HttpApiClient.Client<Groups>, never, HttpApiGroup.MiddlewareClient<Groups>>
  readonly log: TestLog.TestLog
  readonly spans: TestSpans
  /** All metrics of the host and its plugins. */
  readonly metrics: Effect.Effect<ReadonlyArray<Metric.Metric.Snapshot>>
  /** The state of one metric in this host. */
  readonly metric: <Input, State>(metric: Metric.Metric<Input, State>) => Effect.Effect<State>
}

/** A host for tests, as {@link layer} provides it. */
export class TestHost extends Context.Service<TestHost, Service>()("layerhost/testing/TestHost") {}

/** Why a host for tests does not come up. */
export type TestHostError = Host.HostError | Replacement.ReplacementUnused

/** Builds a host, and releases it with the scope. It lives by the clock of the test: that of `it.effect` is the TestClock. */
export const make = <const Plugins extends ReadonlyArray<Plugin.Any>>(
  plugins: Plugins & Validated<Plugins>,
  options: TestHostOptions = {}
): Effect.Effect<Service, TestHostError, Scope.Scope> =>
  Effect.gen(function* () {
    const log = options.log ?? TestLog.make()
    const spans = Recording.make<Tracer.Span>()
    const registry: (typeof Metric.MetricRegistry)["Service"] = new Map()
    const inRegistry = Effect.provideService(Metric.MetricRegistry, registry)

    const host = yield* Host.build<Plugins>(plugins, {
      configuration: {
        values: {
          "host:urls": "http://127.0.0.1:0",
          "host:keepAliveGrace": "0 seconds",
          "logging:minimumLevel": "Debug",
          ...options.config
        },
        // The log is read back, whatever format the service writes.
        args: ["--logging:format=json"]
      },
      log: log.write,
      onSpan: spans.add
    }).pipe(Replacement.provide(options.replace ?? []), inRegistry)
    const [url = "http://localhost"] = options.listen === true ? (yield* host.listen).addresses : []

    const fetch: Service["fetch"] = (path, init) => {
      const request = new Request(new URL(path, url), init)
      return options.listen === true ? globalThis.fetch(request) : host.fetch(request)
    }
    const httpClient = HttpClient.mapRequest(yield* clientOf(fetch), HttpClientRequest.prependUrl(url))
    return {
      url,
      host,
      fetch,
      request: (path, init) => Effect.promise(async (signal) => read(await fetch(path, { signal, ...init }))),
      httpClient,
      client: (api, { transformClient } = {}) =>
        HttpApiClient.make(api, { transformClient }).pipe(
          Effect.provideService(HttpClient.HttpClient, httpClient)
        ) as any,
      log,
      spans: { ended: spans.all, waitFor: (name) => spans.waitFor((span) => span.name === name) },
      metrics: inRegistry(Metric.snapshot),
      metric: (metric) => inRegistry(Metric.value(metric))
    }
  })

const read = async (response: Response): Promise<TestResponse> => {
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    get json() {
      return JSON.parse(text)
    }
  }
}

const clientOf = (fetch: Service["fetch"]): Effect.Effect<HttpClient.HttpClient> =>
  HttpClient.HttpClient.pipe(
    Effect.map(HttpClient.transform(Effect.provideService(FetchHttpClient.Fetch, fetch as typeof globalThis.fetch))),
    Effect.provide(FetchHttpClient.layer)
  )

/**
 * A host as a layer, for tests that share it.
 *
 * @example
 * ```ts
 * layer(TestHost.layer([hello]))("hello", (it) => {
 *   it.effect("greets", () => Effect.flatMap(TestHost.TestHost, ({ request }) => request("/hello/Ada")))
 * })
 * ```
 */
export const layer = <const Plugins extends ReadonlyArray<Plugin.Any>>(
  plugins: Plugins & Validated<Plugins>,
  options?: TestHostOptions
): Layer.Layer<TestHost, TestHostError> => Layer.effect(TestHost, make<Plugins>(plugins, options))

/** A host for tests that are written with promises. */
export interface StartedTestHost extends Service, AsyncDisposable {
  /** Runs an effect where the host runs: what its log, spans, metrics and clients give are effects. */
  readonly run: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** Stops the host and releases everything; `await using` does the same. */
  readonly dispose: () => Promise<void>
}

/**
 * Starts a host for a test that is written with promises. Rejects with what keeps it from coming up.
 *
 * With `testClock`, time stands still until `host.run(TestClock.adjust("1 minute"))`.
 *
 * @example
 * ```ts
 * await using host = await TestHost.start([hello])
 * expect((await host.fetch("/hello/Ada")).status).toBe(200)
 * ```
 */
export const start = async <const Plugins extends ReadonlyArray<Plugin.Any>>(
  plugins: Plugins & Validated<Plugins>,
  options: TestHostOptions & { readonly testClock?: boolean } = {}
): Promise<StartedTestHost> => {
  const surroundings = options.testClock === true ? TestClock.layer() : Layer.empty
  const runtime = ManagedRuntime.make(Layer.provideMerge(layer<Plugins>(plugins, options), surroundings))
  const dispose = () => runtime.dispose()
  try {
    const host = await runtime.runPromise(TestHost)
    return { ...host, run: (effect) => runtime.runPromise(effect), dispose, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}
