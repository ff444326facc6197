/** The services that the host gives to every plugin. */
import type { FileSystem } from "effect/FileSystem"
import type { HttpPlatform } from "effect/http/HttpPlatform"
import type { Generator as EtagGenerator } from "effect/http/Etag"
import type { HttpClient } from "effect/http/HttpClient"
import type { Path } from "effect/Path"
import type { Scope } from "effect/Scope"

/**
 * What a plugin's layers, handlers, checks and tasks may use without any plugin providing it.
 *
 * `Scope` is the host's lifetime in everything that is built at start: it closes once the last request is answered and the
 * tasks have ended, in reverse order of building. A request, a run of a health check and a task each have a scope of their
 * own, which closes when they end.
 */
export type HostServices = FileSystem | Path | HttpPlatform | EtagGenerator | HttpClient | Scope
