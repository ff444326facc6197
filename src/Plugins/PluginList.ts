/**
 * The check that the types make of a whole list of plugins: everything that a plugin needs, an earlier one provides.
 */
import type * as Plugin from "./Plugin.ts"

/**
 * The list itself where every requirement is met. In the place of a plugin that lacks one stands the complaint, so that
 * the compiler reports it on that very element. "Earlier" is the sort order: framework, third-party, app. The compiler
 * follows well over 500 plugins.
 */
export type Validated<Plugins extends ReadonlyArray<Plugin.Any>> = number extends Plugins["length"]
  ? Plugins // Of a list whose length the types do not know, the services are checked when they are built.
  : Walk<Plugins, ProvidedBy<Plugins, "framework">, ProvidedBy<Plugins, "third-party">>

type ProvidedBy<Plugins extends ReadonlyArray<Plugin.Any>, Origin> = Plugin.Provides<
  Extract<Plugins[number], { readonly origin: Origin }>
>

/** One pass over the list; `Framework`, `ThirdParty` and `App` hold what came before within each origin. */
type Walk<
  Rest extends ReadonlyArray<Plugin.Any>,
  AllFramework,
  AllThirdParty,
  Framework = never,
  ThirdParty = never,
  App = never,
  Checked extends ReadonlyArray<unknown> = readonly []
> = Rest extends readonly [infer Head extends Plugin.Any, ...infer Tail extends ReadonlyArray<Plugin.Any>]
  ? Head["origin"] extends "framework"
    ? Walk<
        Tail,
        AllFramework,
        AllThirdParty,
        Framework | Plugin.Provides<Head>,
        ThirdParty,
        App,
        readonly [...Checked, Check<Head, Framework>]
      >
    : Head["origin"] extends "third-party"
      ? Walk<
          Tail,
          AllFramework,
          AllThirdParty,
          Framework,
          ThirdParty | Plugin.Provides<Head>,
          App,
          readonly [...Checked, Check<Head, AllFramework | ThirdParty>]
        >
      : Walk<
          Tail,
          AllFramework,
          AllThirdParty,
          Framework,
          ThirdParty,
          App | Plugin.Provides<Head>,
          readonly [...Checked, Check<Head, AllFramework | AllThirdParty | App>]
        >
  : Checked

type Check<P extends Plugin.Any, Available> = [Exclude<Plugin.Requires<P>, Available>] extends [never]
  ? P
  : `plugin "${P["id"]}" needs a service that no earlier plugin provides: ${NameOf<Exclude<Plugin.Requires<P>, Available>>}`

type NameOf<Service> = Service extends { readonly key: infer Key extends string } ? Key : "one without a name"
