/**
 * The liveness checks that every host has: `api`, `disk_space` and `memory`.
 */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import { readFile, statfs } from "node:fs/promises"
import * as HealthCheck from "../../Plugins/HealthCheck.ts"
import * as Drives from "./Drives.ts"

const tags = ["liveness"]

/** Always healthy: whoever gets an answer has reached the API. */
export const api: HealthCheck.HealthCheck = HealthCheck.make({
  name: "api",
  tags,
  check: Effect.succeed(HealthCheck.healthy())
})

/**
 * Healthy while every real drive has `minimumFreeBytes` left for unprivileged users. The default of the configuration is low,
 * because an orchestrator restarts what fails its liveness probe, and a restart frees no space.
 *
 * On Linux the drives are those in `/proc/mounts`; elsewhere, and where that lists none, it is the drive of the working
 * directory. A drive that cannot be asked is left out; when none can, the check is degraded, because it knows nothing.
 */
export const diskSpace = (options: {
  readonly minimumFreeBytes: number
  readonly readMounts?: () => Promise<string>
  readonly statfs?: (path: string) => Promise<Drives.FileSystemStats>
}): HealthCheck.HealthCheck => {
  const minimum = options.minimumFreeBytes
  const ask = options.statfs ?? statfs
  const readMounts = options.readMounts ?? (() => readFile("/proc/mounts", "utf8"))
  const measure = async () => {
    const mounts = Drives.parseMounts(await readMounts().catch(() => ""))
    const drives = await Drives.measure(mounts, ask)
    return drives.length > 0 ? drives : Drives.measure([{ device: "", path: process.cwd() }], ask)
  }
  return HealthCheck.make({
    name: "disk_space",
    tags,
    check: Effect.map(Effect.promise(measure), (drives) => {
      const low = drives.filter(({ free }) => free < minimum)
      if (low.length > 0) return HealthCheck.unhealthy(`Below ${size(minimum)}: ${describe(low)}`)
      return drives.length > 0
        ? HealthCheck.healthy(describe(drives))
        : HealthCheck.degraded("The free space of no drive could be read.")
    })
  })
}

const describe = (drives: ReadonlyArray<Drives.Drive>) =>
  drives.map((drive) => `${drive.path} has ${size(drive.free)} free of ${size(drive.size)}`).join(", ")

/**
 * Healthy while less than `maximumAllocatedBytes` are allocated.
 *
 * What .NET calls allocated is what its garbage collector holds. Here that is V8's used heap and the memory outside of
 * it that its objects own (`external`, buffers included); stacks, code and the heap's free pages do not count.
 */
export const memory = (options: {
  readonly maximumAllocatedBytes: number
  readonly memoryUsage?: () => Pick<NodeJS.MemoryUsage, "heapUsed" | "external">
}): HealthCheck.HealthCheck => {
  const maximum = options.maximumAllocatedBytes
  const memoryUsage = options.memoryUsage ?? process.memoryUsage
  return HealthCheck.make({
    name: "memory",
    tags,
    check: Effect.sync(() => {
      const { heapUsed, external } = memoryUsage()
      const allocated = heapUsed + external
      const description = `${size(allocated)} allocated, limit ${size(maximum)}`
      return allocated < maximum ? HealthCheck.healthy(description) : HealthCheck.unhealthy(description)
    })
  })
}

const size = (bytes: number) => ByteSize.format(ByteSize.bytes(bytes), { precision: 1 })
