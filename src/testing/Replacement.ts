/**
 * Replacing a layer that a plugin builds, wherever it stands inside the plugin's own layers.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type { HostServices } from "../Plugins/HostServices.ts"
import type * as Plugin from "../Plugins/Plugin.ts"

type AnyLayer = Layer.Layer<never, any, any>

/** A layer, and what is built in its place; made by {@link replace}. */
export interface Replacement {
  readonly original: AnyLayer
  readonly replacement: AnyLayer
}

/** A layer was to be replaced, but the host never built it. */
export class ReplacementUnused extends Schema.TaggedError<ReplacementUnused>()("ReplacementUnused", {
  /** The places of the replacements in the list, counted from 0. */
  positions: Schema.Array(Schema.Int)
}) {
  override get message(): string {
    const places = this.positions.map((position) => `replace[${position}]`).join(", ")
    return (
      `${places}: the host never built the layer that is to be replaced. Name the very layer that the plugin uses: a ` +
      "function that makes layers makes another one at each call. The services of a plugin are replaced as a whole by " +
      "replace(plugin, layer)."
    )
  }
}

/**
 * Replaces a layer, or all services of a plugin, by another layer. A layer is known by its identity: it is the value that
 * the plugin uses, as `Mailer.layer` is. Its replacement is given what the original would be given, and the original is
 * never built.
 *
 * @example
 * ```ts
 * replace(Mailer.layer, Layer.succeed(Mailer, { send: () => Effect.void }))
 * ```
 */
export const replace: {
  <Id extends string, Provides, Requires>(
    original: Plugin.Plugin<Id, Plugin.Any["origin"], Provides, Requires>,
    replacement: Layer.Layer<NoInfer<Provides>, unknown, any>
  ): Replacement
  <A, E, R>(
    original: Layer.Layer<A, E, R>,
    replacement: Layer.Layer<NoInfer<A>, unknown, NoInfer<R> | HostServices>
  ): Replacement
} = (original: AnyLayer | Plugin.Any, replacement: Layer.Layer<any, unknown, any>): Replacement => ({
  original: "services" in original ? original.services : original,
  replacement
})

/** What stands in for a layer in the fibers of one host, and whether it was built. */
interface Entry {
  readonly replacement: AnyLayer
  isUsed: boolean
}

const Replacements = Context.Reference<ReadonlyMap<AnyLayer, Entry>>("layerhost/testing/Replacements", {
  defaultValue: () => new Map()
})

/** What a layer is built by. The declarations of Effect leave it out, and yet every layer, memoized or not, passes here alone. */
interface Buildable {
  build: (memoMap: Layer.MemoMap, scope: Scope.Scope) => Effect.Effect<Context.Context<never>, unknown, any>
}

/** Layers that look for a replacement before they are built. Without one in the fiber, they are built as ever. */
const watched = new WeakSet<AnyLayer>()

const watch = (layer: AnyLayer): void => {
  if (watched.has(layer)) return
  watched.add(layer)
  const buildable = layer as unknown as Buildable
  const build = buildable.build.bind(layer)
  buildable.build = (memoMap, scope) =>
    Effect.flatMap(Replacements, (replacements) => {
      const entry = replacements.get(layer)
      if (entry === undefined) return build(memoMap, scope)
      entry.isUsed = true
      return Layer.buildWithMemoMap(entry.replacement, memoMap, scope)
    })
}

/** Builds a host with replacements; fails where one of them was of no use. */
export const provide =
  (replacements: ReadonlyArray<Replacement>) =>
  <A, E, R>(host: Effect.Effect<A, E, R>): Effect.Effect<A, E | ReplacementUnused, R> => {
    const entries = new Map<AnyLayer, Entry>()
    for (const { original, replacement } of replacements) {
      // Every plugin without services has this one.
      if (original !== Layer.empty) watch(original)
      entries.set(original, { replacement, isUsed: false })
    }
    return host.pipe(
      Effect.tap(() => {
        const positions = replacements.flatMap(({ original }, position) =>
          entries.get(original)!.isUsed ? [] : [position]
        )
        return positions.length === 0 ? Effect.void : Effect.fail(new ReplacementUnused({ positions }))
      }),
      Effect.provideService(Replacements, entries)
    )
  }
