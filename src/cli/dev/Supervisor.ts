/**
 * Runs a service, and a new instance of it after each change.
 *
 * The new instance is built while the old one serves. Only when it is ready to listen is the old one told to stop, and as
 * soon as nobody can connect to that any more, the new one listens. An instance that does not get so far changes nothing.
 */
import * as Effect from "effect/Effect"
import * as Instance from "./Instance.ts"

/** What a supervisor needs. */
export interface SupervisorOptions extends Instance.InstanceOptions {
  /** The program to run. */
  readonly main: string
  readonly say: (text: string) => Effect.Effect<void>
}

/** Replaces what runs by a new instance. Interrupted before its turn, it leaves everything as it was. */
export interface Supervisor {
  readonly restart: Effect.Effect<void>
}

/** Makes a supervisor; when the scope closes, everything ends: the service as by SIGTERM. */
export const make = Effect.fnUntraced(function* (options: SupervisorOptions) {
  const scope = yield* Effect.scope
  const all = new Set<Instance.Instance>()
  let current: Instance.Instance | undefined

  const spawn = (): Instance.Instance => {
    const instance = Instance.make(options)
    all.add(instance)
    Effect.runFork(
      Effect.andThen(
        instance.ended,
        Effect.sync(() => all.delete(instance))
      )
    )
    return instance
  }
  let standby = spawn()
  yield* Effect.addFinalizer(() => endAll(all))

  /** Tells of an instance that ends while nobody has asked for it. */
  const attend = (instance: Instance.Instance) =>
    Effect.flatMap(instance.ended, (end) => {
      if (current !== instance) return Effect.void
      current = undefined
      return options.say(`The service ended (${statusOf(end)}); waiting for a change`)
    })

  const takeOver = Effect.fnUntraced(function* (next: Instance.Instance, begun: number) {
    const previous = current
    current = next
    yield* Effect.forkIn(attend(next), scope)
    if (previous !== undefined) {
      yield* previous.stop
      yield* Effect.raceFirst(previous.isClosed, previous.ended)
    }
    const listens = yield* Effect.raceFirst(Effect.as(next.listen, true), Effect.as(next.ended, false))
    standby = spawn()
    if (listens) {
      const verb = previous === undefined ? "Started" : "Restarted"
      yield* options.say(`${verb} in ${Math.round(performance.now() - begun)} ms`)
    }
  })

  const restart = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const begun = performance.now()
      const next = standby
      yield* next.run(options.main)
      const end = yield* restore(Effect.raceFirst(Effect.as(next.isReady, undefined), next.ended)).pipe(
        Effect.onInterrupt(() => {
          standby = spawn()
          return next.kill
        })
      )
      if (end === undefined) return yield* takeOver(next, begun)
      standby = spawn()
      yield* options.say(
        current === undefined
          ? `The service did not start (${statusOf(end)}); waiting for a change`
          : `The new instance did not start (${statusOf(end)}); the one before it goes on`
      )
    })
  )
  return { restart } satisfies Supervisor
})

const statusOf = (end: Instance.End): string => (typeof end === "number" ? `status ${end}` : end)

/** Ends all processes, and waits for them. A second signal to this process ends them at once. */
const endAll = (instances: ReadonlySet<Instance.Instance>): Effect.Effect<void> =>
  Effect.gen(function* () {
    const kill = () => Effect.runSync(Effect.forEach(instances, (instance) => instance.kill, { discard: true }))
    process.on("SIGINT", kill)
    process.on("SIGTERM", kill)
    const left = [...instances]
    yield* Effect.forEach(left, ({ stop }) => stop, { discard: true })
    yield* Effect.forEach(left, ({ ended }) => ended, { concurrency: "unbounded", discard: true })
    process.off("SIGINT", kill)
    process.off("SIGTERM", kill)
  })
