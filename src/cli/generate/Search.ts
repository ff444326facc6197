/** What both halves of the search for plugins share. */
import type { Exclusion } from "./Exclusion.ts"
import type { Made } from "./Made.ts"
import type { PackageJson } from "./PackageJson.ts"
import type { Resolver } from "./Resolver.ts"
import type { Sources } from "./Sources.ts"

/** A plugin, or a part that stands alone, and where the list has it from. */
export interface Found {
  /** The name that it is exported by. */
  readonly name: string
  readonly made: Made
  /** A file of the service, or the specifier of a package's module. */
  readonly module: { readonly file: string } | { readonly specifier: string }
  /** The package that brought it; absent for the service's own. */
  readonly package: { readonly name: string; readonly version: string } | undefined
}

/** One search through a service and what it installs. */
export interface Search {
  readonly service: PackageJson
  readonly sources: Sources
  readonly resolver: Resolver
  readonly exclusion: Exclusion
}
