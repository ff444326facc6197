/**
 * Where a plugin comes from, which decides when it runs: the framework first, then third-party packages, then the
 * service's own plugins. Within one origin, plugins run in the order in which they are listed.
 */

/** `framework`: ids that begin with `layerhost/`; `third-party`: from an installed package; `app`: the service's own. */
export type PluginOrigin = "framework" | "third-party" | "app"

/** The prefix of a framework plugin's id. */
export const frameworkPrefix = "layerhost/"

/** The origin that an id implies when nobody says otherwise. */
export type OriginOf<Id extends string> = Id extends `${typeof frameworkPrefix}${string}` ? "framework" : "app"

/** The origin that an id implies when nobody says otherwise. */
export const originOf = <const Id extends string>(id: Id): OriginOf<Id> =>
  (id.startsWith(frameworkPrefix) ? "framework" : "app") as OriginOf<Id>

/** The sort keys: the two ends and the middle of a signed byte. */
export const sortKey: { readonly [Origin in PluginOrigin]: number } = { framework: -128, "third-party": 0, app: 127 }

/** Sorts plugins by origin; the order within an origin stays. Used for every phase. */
export const sort = <P extends { readonly origin: PluginOrigin }>(plugins: ReadonlyArray<P>): ReadonlyArray<P> =>
  plugins.toSorted((a, b) => sortKey[a.origin] - sortKey[b.origin])
