/**
 * The check that the types make of a whole list of plugins: everything that a plugin needs, an earlier one provides.
 */
import type * as Plugin from "./Plugin.ts"
import type { PluginOrigin } from "./PluginOrigin.ts"

/**
 * The list itself where every requirement is met. In the place of a plugin that lacks one stands the complaint, so that
 * the compiler reports it on that very element. "Earlier" is the sort order: framework, third-party, app.
 *
 * The compiler follows lists of up to 1,000 plugins, in seconds. Of longer ones, and of those whose length the types do not
 * know, the services are checked when they are built.
 */
export type Validated<Plugins extends ReadonlyArray<Plugin.Any>> =
  IsFollowed<Plugins["length"]> extends true
    ? Walk<Plugins, never, ProvidedBy<Plugins, "framework">, ProvidedBy<Plugins, "framework" | "third-party">>
    : Plugins

/** Whether a length is known, and has no more than three digits or is the one behind these. */
type IsFollowed<Length extends number> = number extends Length
  ? false
  : Length extends 1000
    ? true
    : `${Length}` extends `${infer _1}${infer _2}${infer _3}${infer _4}${infer _Rest}`
      ? false
      : true

type ProvidedBy<Plugins extends ReadonlyArray<Plugin.Any>, Origin> = Plugin.Provides<
  Extract<Plugins[number], { readonly origin: Origin }>
>

/** What a plugin adds for later plugins of its origin; later origins see all of it from the start. */
type Adds<P extends Plugin.Any, Origin extends PluginOrigin> = Plugin.Provides<Extract<P, { readonly origin: Origin }>>

/**
 * One pass over the list; the three unions are what is there for the next plugin of each origin. Two plugins are looked at
 * in a step where there are as many, since the compiler takes a thousand steps at most.
 */
type Walk<
  Rest extends ReadonlyArray<Plugin.Any>,
  Framework,
  ThirdParty,
  App,
  Checked extends ReadonlyArray<unknown> = readonly []
> = Rest extends readonly [
  infer A extends Plugin.Any,
  infer B extends Plugin.Any,
  ...infer Tail extends ReadonlyArray<Plugin.Any>
]
  ? Walk<
      Tail,
      Framework | Adds<A | B, "framework">,
      ThirdParty | Adds<A | B, "third-party">,
      App | Adds<A | B, "app">,
      readonly [
        ...Checked,
        Check<A, Framework, ThirdParty, App>,
        Check<B, Framework | Adds<A, "framework">, ThirdParty | Adds<A, "third-party">, App | Adds<A, "app">>
      ]
    >
  : Rest extends readonly [infer Last extends Plugin.Any]
    ? readonly [...Checked, Check<Last, Framework, ThirdParty, App>]
    : Checked

type Check<P extends Plugin.Any, Framework, ThirdParty, App> = [Missing<P, Framework, ThirdParty, App>] extends [never]
  ? P
  : `plugin "${P["id"]}" needs a service that no earlier plugin provides: ${NameOf<Missing<P, Framework, ThirdParty, App>>}`

type Missing<P extends Plugin.Any, Framework, ThirdParty, App> = Exclude<
  Plugin.Requires<P>,
  P["origin"] extends "framework" ? Framework : P["origin"] extends "third-party" ? ThirdParty : App
>

type NameOf<Service> = Service extends { readonly key: infer Key extends string } ? Key : "one without a name"
