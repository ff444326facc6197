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
 * `Scope` is the plugin's lifetime: it closes when the host has drained its requests, in reverse order of building.
 */
export type HostServices = FileSystem | Path | HttpPlatform | EtagGenerator | HttpClient | Scope
