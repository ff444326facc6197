/** Finds the plugins of a service: those of the packages that it installs, and those that its own sources export. */
import * as Effect from "effect/Effect"
import { Exclusion } from "./Exclusion.ts"
import { gather } from "./Finding.ts"
import * as GenerateError from "./GenerateError.ts"
import * as InstalledPlugins from "./InstalledPlugins.ts"
import * as OwnPlugins from "./OwnPlugins.ts"
import type * as PackageJson from "./PackageJson.ts"
import { Resolver } from "./Resolver.ts"
import type { Sources } from "./Sources.ts"

/**
 * The plugins of the packages among a service's dependencies, by the package's name, each behind those of the packages that
 * it includes; and those that the service's own files make and export, by path, with the health checks, middleware and
 * sections that are exported and that no plugin lists. Tests, declarations and generated files are left out.
 */
export const find = Effect.fnUntraced(function* (service: PackageJson.PackageJson, sources: Sources) {
  const exclusion = new Exclusion(service)
  const search = { service, sources, resolver: new Resolver(sources), exclusion }
  const { failures, found } = yield* gather([InstalledPlugins.find(search), Effect.sync(() => OwnPlugins.find(search))])
  const errors = [...failures, ...sources.problems.values()]
  if (errors.length > 0) return yield* GenerateError.sorted(GenerateError.merge(errors))
  const kept = found.filter((each) => !exclusion.hasId(each.made.id))
  const unused = exclusion.unused()
  if (unused.length > 0) return yield* GenerateError.merge(unused)
  return kept
})
