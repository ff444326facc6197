/**
 * The readiness check of the file backend: can its directory be written?
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as HealthCheck from "../Plugins/HealthCheck.ts"
import { reasonOf } from "./DurableFiles.ts"

/** Creates and deletes `.health-probe` in the directory. Probes of several processes do not disturb each other. */
export const healthCheck = Effect.fnUntraced(function* (
  directory: string
): Effect.fn.Return<HealthCheck.HealthCheck, never, FileSystem.FileSystem | Path.Path> {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return HealthCheck.make({
    name: "secretstore-local-filesystem",
    tags: ["readiness"],
    check: Effect.gen(function* () {
      const root = path.resolve(directory)
      const probe = path.join(root, ".health-probe")
      const write = Effect.flatMap(fs.open(probe, { flag: "w", mode: 0o600, noFollow: true }), (opened) =>
        opened.writeAll(new TextEncoder().encode("probe\n"))
      )
      return yield* Effect.scoped(write).pipe(
        // Another process may have deleted the file that this one has just opened.
        Effect.andThen(fs.remove(probe, { force: true })),
        Effect.match({
          onSuccess: () => HealthCheck.healthy(),
          onFailure: (error) => HealthCheck.unhealthy(`Secrets cannot be written in ${root}: ${reasonOf(error)}`)
        })
      )
    })
  })
})
