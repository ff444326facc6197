import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as fs from "node:fs"
import * as path from "node:path"
import { healthCheck } from "../../src/SecretStore/FileBackendHealth.ts"
import { failure, fileSystemWith, filesBelow, platform, temporaryDirectory } from "./support/Files.ts"

const probe = (directory: string, files = platform) =>
  healthCheck(directory).pipe(
    Effect.flatMap(({ check }) => check),
    Effect.orDie,
    Effect.provide(files)
  )

describe("secretstore-local-filesystem", () => {
  it.effect("is a readiness check that is healthy where files can be written, and leaves none", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      expect(yield* Effect.provide(healthCheck(root), platform)).toMatchObject({
        name: "secretstore-local-filesystem",
        tags: ["readiness"]
      })
      expect(yield* probe(root)).toEqual({ status: "Healthy", description: null })
      expect(filesBelow(root)).toEqual([])
    })
  )

  it.effect("probes at the same time do not disturb each other, nor does one that was left behind", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      fs.writeFileSync(path.join(root, ".health-probe"), "left behind")
      const results = yield* Effect.forEach(Array.from({ length: 200 }), () => probe(root), { concurrency: 20 })
      expect(results.filter(({ status }) => status !== "Healthy")).toEqual([])
      expect(filesBelow(root)).toEqual([])
    })
  )

  it.effect("is unhealthy where the directory is missing or cannot be written, and says why", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const missing = path.join(root, "missing")
      const broken = [
        probe(missing),
        probe(
          root,
          fileSystemWith(() => ({ open: () => failure("open", "PermissionDenied") }))
        ),
        probe(
          root,
          fileSystemWith(() => ({ remove: () => failure("remove", "PermissionDenied") }))
        )
      ]
      for (const [check, directory, reason] of [
        [broken[0]!, missing, "NotFound"],
        [broken[1]!, root, "PermissionDenied"],
        [broken[2]!, root, "PermissionDenied"]
      ] as const) {
        const { description, status } = yield* check
        expect(status).toBe("Unhealthy")
        expect(description).toContain(`Secrets cannot be written in ${directory}: ${reason}`)
      }
      expect(fs.existsSync(missing)).toBe(false)
    })
  )

  it.effect("does not write through a link that someone put in the probe's place", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      fs.writeFileSync(path.join(root, "victim"), "untouched")
      fs.symlinkSync("victim", path.join(root, ".health-probe"))
      expect((yield* probe(root)).status).toBe("Unhealthy")
      expect(fs.readFileSync(path.join(root, "victim"), "utf8")).toBe("untouched")
    })
  )
})
